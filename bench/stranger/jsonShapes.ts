/** A body of about this many bytes, as a stranger would make it to keep a parser busy. */
export type JsonShape = (bytes: number) => string

const fill = (part: string, bytes: number): string => part.repeat(Math.floor(bytes / Buffer.byteLength(part)))
const around = (before: string, part: string, after: string): JsonShape => {
  return (bytes) => before + fill(part, bytes - Buffer.byteLength(before + after)) + after
}
const inText = (part: string): JsonShape => around('{"html":"', part, '"}')
const objectOf =
  (nameOf: (index: number) => string, eachBytes: number): JsonShape =>
  (bytes) =>
    `{${Array.from({ length: Math.floor(bytes / eachBytes) }, (_, index) => `"${nameOf(index)}":1`).join(',')}}`

export const jsonShapes: Readonly<Record<string, JsonShape>> = {
  'nested arrays': (bytes) => fill('[', bytes / 2) + fill(']', bytes / 2),
  'nested objects': (bytes) => `${fill('{"a":', (bytes * 5) / 6)}1${fill('}', bytes / 6)}`,
  'many names': objectOf((index) => `k${index}`, 12),
  'many escaped names': objectOf((index) => `\\u0041\\u0042${index}`, 23),
  'many whole numbers as names': objectOf((index) => String(index * 7), 12),
  'long names': objectOf((index) => `${index}${'k'.repeat(4_000)}`, 4_010),
  'empty strings': around('[', '"",', '""]'),
  'empty objects': around('[', '{},', '{}]'),
  'objects named __proto__': around('[', '{"__proto__":{}},', '{}]'),
  'short numbers': around('[', '1e9,', '1]'),
  'long fractions': around('[', '1.2345678901234567e-300,', '1]'),
  'one long number': around('{"html":', '9', '}'),
  spaces: around('{"html":"x"}', ' ', ''),
  'a name twice, far apart': around('{"html":"', 'x', '","html":""}'),
  'plain text': inText('x'),
  'escaped letters': inText('\\u0041'),
  'escaped line breaks': inText('\\n'),
  'escaped quotes': inText('\\"'),
  'escaped backslashes': inText('\\\\'),
  'euro signs': inText('€'),
  emoji: inText('🚀'),
  'text without an end': around('{"html":"', 'x', ''),
}
