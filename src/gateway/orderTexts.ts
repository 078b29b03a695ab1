import { isSchema, type Schema } from './parameterSchema.ts'

/**
 * Converts texts from query and path to the types in the schema: `52.5` to a number, `a,b` to an array. A text that
 * cannot be converted is unchanged, and the schema then refuses it. `names` are the parameters to convert. Absent:
 * all.
 */
export function readTexts(schema: Schema, input: unknown, names?: readonly string[]): unknown {
  if (!isSchema(input)) return input
  const properties = isSchema(schema['properties']) ? schema['properties'] : {}
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [
      name,
      typeof value === 'string' && Object.hasOwn(properties, name) && names?.includes(name) !== false
        ? readText(properties[name], value)
        : value,
    ]),
  )
}

const decimal = /^-?(0|[1-9]\d{0,15})(\.\d{1,15})?$/

function readText(schema: unknown, text: string): unknown {
  const types = typesOf(schema)
  // Keep a text if texts are allowed: `1.50` would lose its last digit as a number.
  if (types.includes('string')) return text
  if ((types.includes('number') || types.includes('integer')) && decimal.test(text)) return Number(text)
  if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true'
  if (types.includes('null') && text === 'null') return null
  if (types.includes('array')) return readArray(schema, text)
  return types.includes('object') ? readJson(text) : text
}

function typesOf(schema: unknown): readonly unknown[] {
  if (!isSchema(schema)) return []
  const { type } = schema
  if (type !== undefined) return Array.isArray(type) ? type : [type]
  // Without `type`, derive the types from the values of `enum` or `const`.
  const values = Array.isArray(schema['enum']) ? schema['enum'] : 'const' in schema ? [schema['const']] : []
  return values.map((value) => typeof value)
}

function readArray(schema: unknown, text: string): unknown {
  if (text.startsWith('[')) return readJson(text)
  const items = isSchema(schema) ? schema['items'] : undefined
  if (text === '') return []
  const parts = text.split(',')
  return parts.length > itemsMax ? text : parts.map((one) => readText(items, one))
}

// Limits of JSON in a text, as in JSON bodies, because the checks recurse into each level, and some compare each item
// with all others.
const depthMax = 32
const itemsMax = 1_000
const jsonString = /"(?:[^"\\]|\\.)*"/g

function isExcessive(text: string): boolean {
  let [depth, items] = [0, 1]
  for (const character of text.replaceAll(jsonString, '')) {
    if ('[{'.includes(character)) depth++
    else if (']}'.includes(character)) depth--
    else if (character === ',') items++
    if (depth > depthMax || items > itemsMax) return true
  }
  return false
}

function readJson(text: string): unknown {
  if (isExcessive(text)) return text
  try {
    return JSON.parse(text)
  } catch {
    // Return the text unchanged: the schema then refuses it and reports the expected type.
    return text
  }
}
