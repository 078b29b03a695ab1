import { z } from 'zod'
import { bounded, boundedInteger, objectWith, oneOf, text } from '../../product/text.ts'

const selectorLengthMax = 200
const delayMsMax = 5_000
const tagLengthMax = 64

export const selector = text({
  expected: `a CSS selector of 1 to ${selectorLengthMax} characters`,
  shown: { minLength: 1, maxLength: selectorLengthMax },
  // Refuse braces, which would begin a rule if the selector is inserted into a style sheet. A selector can contain
  // braces only in a quoted value, which is rare.
  test: (value) => value.trim() !== '' && value.length <= selectorLengthMax && !/[{}]/.test(value),
})

const locale = text({
  expected: 'a BCP 47 language tag such as de-CH',
  shown: { minLength: 2, maxLength: tagLengthMax },
  // The browser refuses the language `und`, which stands for any language.
  test: (value) =>
    value.length <= tagLengthMax && succeeds(() => Intl.getCanonicalLocales(value)) && !/^und(-|$)/i.test(value),
})

const timezone = text({
  expected: 'an IANA time zone such as Europe/Zurich',
  shown: { minLength: 1, maxLength: tagLengthMax },
  // The first letter excludes offsets such as +01:00, which `Intl` accepts although they are not IANA time zones.
  test: (value) => value.length <= tagLengthMax && /^[A-Za-z]/.test(value) && succeeds(() => formatterOf(value)),
})

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en', { timeZone })
}

function succeeds(attempt: () => unknown): boolean {
  try {
    attempt()
    return true
  } catch {
    return false
  }
}

const geolocation = z.strictObject(
  {
    latitude: bounded(-90, 90).meta({ description: 'degrees' }),
    longitude: bounded(-180, 180).meta({ description: 'degrees' }),
  },
  objectWith('latitude and longitude'),
)

export const pageOptions = {
  waitFor: selector
    .exactOptional()
    .meta({ description: 'CSS selector of an element that must be visible, within 8 s' }),
  until: oneOf(['domcontentloaded', 'load', 'quiet'])
    .exactOptional()
    .meta({ default: 'quiet', description: 'quiet: loaded, no request pending, and no longer changing' }),
  delay: boundedInteger(0, delayMsMax)
    .exactOptional()
    .meta({ description: 'a pause before the capture, in milliseconds' }),
  hide: selector
    .exactOptional()
    .meta({ description: 'CSS selectors, separated by commas, of elements that are not shown' }),
  locale: locale.exactOptional().meta({ default: 'en-US', description: 'language of the browser' }),
  timezone: timezone.exactOptional().meta({ default: 'UTC', description: 'IANA time zone of the browser' }),
  colorScheme: oneOf(['light', 'dark']).exactOptional().meta({ description: 'the scheme that the page is asked for' }),
  geolocation: geolocation.exactOptional().meta({ description: 'position that an https page may read' }),
}
