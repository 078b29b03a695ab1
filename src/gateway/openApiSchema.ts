import { isKnownFormat, isKnownKeyword } from './checkParameters.ts'
import { isSchema, type Schema } from './parameterSchema.ts'

/* Reduces schemas of OpenAPI documents to the part of JSON Schema 2020-12 that a products file accepts. */

// Keywords to drop. `nullable` is OpenAPI 3.0 syntax, which some 3.1 documents still contain. Regular expressions are
// not supported. The other keywords do not restrict an order in JSON Schema 2020-12.
const dropped = new Set([
  'nullable',
  'readOnly',
  'writeOnly',
  'examples',
  'id',
  'definitions',
  'dependencies',
  'pattern',
  'patternProperties',
])
const literals = new Set(['const', 'default', 'enum', 'required', 'dependentRequired'])
const maps = new Set(['properties', 'dependentSchemas'])

const textLengthMax = 300

export function plainSchema(schema: unknown): unknown {
  if (!isSchema(schema)) return typeof schema === 'boolean' ? schema : {}
  const allowed = Object.entries(schema).filter(([name, value]) => isAllowed(name, value))
  const plain = Object.fromEntries(allowed.map(([name, value]) => [name, plainValue(name, value)]))
  return withoutUnknownRequired(plain, schema)
}

function isAllowed(name: string, value: unknown): boolean {
  if (name === 'description' || name === 'title') return typeof value === 'string'
  // Drop boolean exclusive limits, because they are OpenAPI 3.0 syntax, which some 3.1 documents still contain.
  if (name.startsWith('exclusiveM')) return typeof value === 'number'
  // Drop unknown formats, because only the API can check them.
  if (name === 'format') return isKnownFormat(String(value))
  return isKnownKeyword(name) && !dropped.has(name) && !name.startsWith('$')
}

function plainValue(name: string, value: unknown): unknown {
  if (name === 'description' || name === 'title') return shortText(String(value))
  if (literals.has(name)) return value
  if (maps.has(name) && isSchema(value)) return plainMembers(value)
  if (Array.isArray(value)) return value.map((one) => (isSchema(one) ? plainSchema(one) : one))
  return isSchema(value) ? plainSchema(value) : value
}

function plainMembers(members: Schema): Schema {
  const sent = Object.entries(members).filter(([, member]) => !isReadOnly(member))
  return Object.fromEntries(sent.map(([name, member]) => [name, plainSchema(member)]))
}

const isReadOnly = (member: unknown) => isSchema(member) && member['readOnly'] === true

/** Removes read-only members from `required`, because they occur only in answers. */
function withoutUnknownRequired(plain: Schema, { properties }: Schema): Schema {
  const { required } = plain
  if (!Array.isArray(required) || !isSchema(properties)) return plain
  return { ...plain, required: required.filter((name) => !isReadOnly(properties[String(name)])) }
}

export function shortText(text: string, lengthMax = textLengthMax): string {
  // Separate `${`, because `${NAME}` would be a variable in a products file.
  const line = text.replaceAll('${', '$ {').replaceAll(/\s+/g, ' ').trim()
  return line.length <= lengthMax ? line : `${line.slice(0, lengthMax - 2).replace(/ \S*$/, '')} …`
}

/** Returns an example value of the schema. The value is a guess, so the caller checks it against the schema. */
export function exampleOf(schema: unknown, isSimple = false, depth = 0): unknown {
  if (!isSchema(schema) || depth > depthMax) return null
  const { example, examples, default: standard, enum: values } = schema
  const given = isSimple ? [] : [example, firstOf(examples), standard]
  const known = [...given, 'const' in schema ? schema['const'] : undefined, firstOf(values)]
  const found = known.find((value) => value !== undefined)
  if (found !== undefined) return found
  const inner = firstOf(schema['allOf']) ?? firstOf(schema['oneOf']) ?? firstOf(schema['anyOf'])
  if (inner !== undefined && schema['properties'] === undefined) return exampleOf(inner, isSimple, depth + 1)
  return simplestOf(schema, isSimple, depth)
}

const depthMax = 8
const firstOf = (value: unknown): unknown => (Array.isArray(value) ? value[0] : undefined)

function simplestOf(schema: Schema, isSimple: boolean, depth: number): unknown {
  const type = Array.isArray(schema['type']) ? schema['type'][0] : schema['type']
  const { minimum, minItems, minLength, format, items, properties } = schema
  switch (type) {
    case 'integer':
    case 'number':
      return typeof minimum === 'number' ? minimum : 1
    case 'boolean':
      return true
    case 'array':
      return Array.from({ length: Math.max(1, Number(minItems ?? 1)) }, () => exampleOf(items, isSimple, depth + 1))
    case 'object': {
      const required = Array.isArray(schema['required']) ? schema['required'].map(String) : []
      const members = isSchema(properties) ? properties : {}
      const sent = required.filter((name) => !isReadOnly(members[name]))
      return Object.fromEntries(sent.map((name) => [name, exampleOf(members[name], isSimple, depth + 1)]))
    }
    default:
      return texts[String(format)] ?? 'text'.padEnd(Number(minLength ?? 0), 'x')
  }
}

// Hosts and addresses are those that are reserved for documentation (RFC 2606 and RFC 5737).
const texts: Readonly<Record<string, string>> = {
  date: '2026-01-01',
  time: '12:00:00Z',
  'date-time': '2026-01-01T12:00:00Z',
  email: 'name@example.com',
  uri: 'https://example.com/',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  uuid: '123e4567-e89b-12d3-a456-426614174000',
}
