import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import { z } from 'zod'
import { isWellFormed, type Json } from '@tollbook/core/canonicalJson'
import { type Schema, SchemaProblem } from './parameterSchema.ts'

export type Parameters = Readonly<Record<string, Json>>

/** Checks raw parameters. Returns the problems, of which there are none for an order that the schema allows. */
export type CheckParameters = (input: unknown) => readonly ErrorObject[]

const ajv = new Ajv2020({
  // Unknown keywords and formats are mistakes, because they would check nothing.
  strict: true,
  strictTypes: false,
  strictTuples: false,
  strictRequired: false,
  allowUnionTypes: true,
  // Bounded by the limits of bodies and queries. A caller sees every problem at once.
  allErrors: true,
  logger: false,
})
ajvFormats.default(ajv)

export const isKnownKeyword = (name: string) => ajv.RULES.keywords[name] === true
export const isKnownFormat = (name: string) => name in ajv.formats

/** Compiles a schema without references. Throws `SchemaProblem` if it is not valid JSON Schema 2020-12. */
export function compileSchema(schema: Schema): CheckParameters {
  try {
    const validate = ajv.compile(schema)
    return (input) => (validate(input) ? [] : [...(validate.errors ?? [])])
  } catch (error) {
    throw new SchemaProblem(`is not valid JSON Schema 2020-12: ${error instanceof Error ? error.message : 'unknown'}`)
  }
}

export interface ParameterRules {
  readonly schema: Schema
  readonly check: CheckParameters
  /** Parameters that become segments of a path. */
  readonly inPath: readonly string[]
}

/**
 * Makes the type that validates the parameters of a product. Documents show the schema as it is written. `read`
 * converts what was sent.
 */
export function parametersType(
  { schema, check, inPath }: ParameterRules,
  read: (input: unknown) => unknown,
): z.ZodType<Parameters> {
  return z
    .unknown()
    .transform((input, context) => {
      const order = read(input)
      const problems = check(order)
      for (const problem of problems) context.addIssue(issueOf(problem))
      const parsed = jsonObject.safeParse(order)
      if (problems.length > 0) return z.NEVER
      if (!parsed.success || !isWellFormed(parsed.data)) {
        context.addIssue({ code: 'custom', message: 'must be a JSON object without lone surrogates' })
        return z.NEVER
      }
      // Refuse a value that would leave its segment before a price is asked.
      for (const name of inPath.filter((one) => !isSegment(parsed.data[one])))
        context.addIssue({ code: 'custom', path: [name], message: segmentRule })
      return parsed.data
    })
    .meta(schema)
}

/** True if the value is one segment of a path for every server, whatever it decodes. */
export function isSegment(value: Json | undefined): boolean {
  if (typeof value !== 'string' && typeof value !== 'number') return false
  const text = String(value)
  return text !== '' && text.length <= 512 && text !== '.' && text !== '..' && !/[/\\%?#;\p{Cc}]/u.test(text)
}

const jsonObject = z.record(z.string(), z.json())
const segmentRule = 'must be one segment of a path, without / \\ % ? # ;'

function issueOf({
  keyword,
  instancePath,
  params,
  message = 'is not allowed',
}: ErrorObject): z.core.$ZodSuperRefineIssue {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
  const found = paramsShape.parse(params)
  const stray = found.additionalProperty ?? found.unevaluatedProperty
  if (stray !== undefined) return { code: 'unrecognized_keys', keys: [stray], path, input: {} }
  if (found.missingProperty !== undefined)
    return { code: 'custom', path: [...path, found.missingProperty], message: 'is required', input: undefined }
  const allowed = keyword === 'enum' ? found.allowedValues : keyword === 'const' ? [found.allowedValue] : undefined
  const shown = allowed === undefined ? message : `must be one of ${JSON.stringify(allowed).slice(1, -1)}`
  return { code: 'custom', path, message: shown.slice(0, messageLengthMax), input: undefined }
}

const messageLengthMax = 300

const paramsShape = z.object({
  additionalProperty: z.string().optional(),
  unevaluatedProperty: z.string().optional(),
  missingProperty: z.string().optional(),
  allowedValues: z.array(z.unknown()).optional(),
  allowedValue: z.unknown().optional(),
})
