import { isSchema, type Schema } from './parameterSchema.ts'

/**
 * Converts the texts of query and path to the types that the schema names: `52.5` to a number, `a,b` to an array. Texts
 * of another form stay as they are, and the schema refuses them. Without `names`, all parameters are texts.
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
  // A list of values or a constant says the types without naming them.
  const values = Array.isArray(schema['enum']) ? schema['enum'] : 'const' in schema ? [schema['const']] : []
  return values.map((value) => typeof value)
}

/** Reads an array as JSON or as values with commas. An empty text is an empty array. */
function readArray(schema: unknown, text: string): unknown {
  if (text.startsWith('[')) return readJson(text)
  const items = isSchema(schema) ? schema['items'] : undefined
  return text === '' ? [] : text.split(',').map((one) => readText(items, one))
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The schema refuses the text with the type that it expects.
    return text
  }
}
