import { z } from 'zod'
import { characterCount, oneOf, optionalQueryInteger, queryDecimal, queryFlag, text } from '../../product/text.ts'

const city = text({
  expected: 'a city name: 1 to 100 letters, marks, digits, spaces, apostrophes, dashes and . , ( ) /',
  // Omit the pattern from the schema: readers of JSON Schema disagree about \p{L}, and a form built from such a schema
  // would refuse every city.
  shown: { minLength: 1, maxLength: 100 },
  test: (value) =>
    /^[\p{L}\p{M}\p{Nd}\p{Zs}\p{Pd}.,'’‘`´′/()]+$/u.test(value) &&
    /[\p{L}\p{Nd}]/u.test(value) &&
    characterCount(value) <= 100,
})

export const hoursMax = 48
export const daysMax = 7

export const weatherParameters = z
  .strictObject({
    city: city.exactOptional(),
    latitude: queryDecimal({ min: -90, max: 90 }).exactOptional().meta({ description: 'degrees, instead of a city' }),
    longitude: queryDecimal({ min: -180, max: 180 }).exactOptional().meta({ description: 'degrees, with latitude' }),
    details: queryFlag().exactOptional().meta({ description: 'feels-like, wind, pressure, precipitation, clouds' }),
    hours: optionalQueryInteger({ min: 1, max: hoursMax }).exactOptional().meta({ description: 'hours of forecast' }),
    days: optionalQueryInteger({ min: 1, max: daysMax }).exactOptional().meta({ description: 'days of forecast' }),
    units: oneOf(['metric', 'imperial'])
      .exactOptional()
      .meta({ default: 'metric', description: 'of wind, pressure and precipitation; temperatures come in both' }),
  })
  .superRefine(({ city: name, latitude, longitude }, { addIssue }) => {
    const refuse = (field: string, message: string) => addIssue({ code: 'custom', path: [field], message })
    const isPosition = latitude !== undefined || longitude !== undefined
    if (name === undefined && !isPosition) refuse('city', 'is required: a city name, or latitude and longitude')
    if (name !== undefined && isPosition) refuse('city', 'must not be combined with latitude and longitude')
    if (isPosition && latitude === undefined) refuse('latitude', 'is required with longitude')
    if (isPosition && longitude === undefined) refuse('longitude', 'is required with latitude')
  })

export type WeatherOrder = z.infer<typeof weatherParameters>
