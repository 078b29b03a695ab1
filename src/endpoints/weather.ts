import { z } from 'zod'
import { defineEndpoint, type Endpoint } from './endpoint.ts'
import { neverBuilt } from './neverBuilt.ts'
import { characterCount, text } from './text.ts'

const city = text({
  expected: "a city name: 1 to 100 letters, marks, digits, spaces and . , ' ( ) -",
  // No pattern: readers of JSON Schema do not agree on \p{L}, and Swagger UI would refuse every city.
  shown: { minLength: 1, maxLength: 100 },
  test: (value) =>
    /^[\p{L}\p{M}\p{Nd} .,'()-]+$/u.test(value) && /[\p{L}\p{Nd}]/u.test(value) && characterCount(value) <= 100,
})

export function createWeather(): Endpoint {
  return defineEndpoint({
    path: '/api/data/weather',
    method: 'GET',
    summary: 'Current weather in a city',
    schema: z.strictObject({ city }),
    ...neverBuilt('weather reports'),
  })
}
