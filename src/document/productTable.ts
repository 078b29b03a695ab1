import { z } from 'zod'
import type { ProductFacts } from '../product/productFacts.ts'
import { usdDecimals } from '../pricing/priceList.ts'
import { formatDecimal } from '@tollbook/core/money'
import type { Json } from '@tollbook/core/canonicalJson'
import { schemaOf } from './jsonSchema.ts'

/**
 * Lists the products with prices and parameters as a Markdown table. scripts/productTables.ts writes it into
 * docs/api.md.
 */
export function productTable(products: readonly ProductFacts[]): string {
  const rows = products.map(
    (product) =>
      `| \`${product.method} ${product.path}\` | ${shownUsd(product)} | ${shownParameters(product.parameters).replaceAll('|', String.raw`\|`)} |`,
  )
  return ['| endpoint | USD | parameters |', '|---|---|---|', ...rows].join('\n')
}

/** Lists the providers of each product as a Markdown table. scripts/productTables.ts writes it into docs/providers.md. */
export function providerTable(products: readonly ProductFacts[]): string {
  const rows = products.map(({ method, path, providers }) => {
    const names = providers.map((name) => `\`${name}\``).join(', ')
    return `| \`${method} ${path}\` | ${names === '' ? 'none' : names} |`
  })
  return ['| endpoint | providers |', '|---|---|', ...rows].join('\n')
}

/** Shows at least three decimals, like the prices in the specification. */
function shownUsd({ priceMicroUsd }: ProductFacts): string {
  const [whole = '', fraction = ''] = formatDecimal(priceMicroUsd, usdDecimals).split('.')
  return `${whole}.${fraction.padEnd(3, '0')}`
}

const field = z.object({
  type: z.string().optional().catch(undefined),
  description: z.string().optional(),
  enum: z.array(z.string()).optional().catch(undefined),
  default: z.json().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  maxLength: z.number().optional(),
  format: z.string().optional(),
  properties: z
    .record(z.string(), z.object({ description: z.string().optional() }).catch({}))
    .optional()
    .catch(undefined),
})
type Field = z.infer<typeof field>

// A schema of an operator may have no properties, or `true` as the schema of one.
const parametersShape = z.object({
  properties: z.record(z.string(), field.catch({})).default({}),
  required: z.array(z.string()).default([]),
  oneOf: z
    .array(z.object({ required: z.array(z.string()) }))
    .default([])
    .catch([]),
})

/** Lists names, types and defaults of the parameters in one line. */
export function shownParameters(schema: z.ZodType): string {
  const { properties, required, oneOf } = parametersShape.parse(schemaOf(schema))
  const alternatives = oneOf.flatMap((alternative) => alternative.required)
  const isOptional = (name: string, { default: standard }: Field) =>
    standard === undefined && !required.includes(name) && !alternatives.includes(name)
  const shown = Object.entries(properties).map(([name, said]) => {
    const standing = isOptional(name, said) ? ' (optional)' : defaultOf(said)
    return `\`${name}\`: ${shownField(said)}${standing}`
  })
  const choice =
    alternatives.length === 0 ? [] : [`exactly one of ${alternatives.map((name) => `\`${name}\``).join(' and ')}`]
  return [...shown, ...choice].join(' · ')
}

function defaultOf({ default: standard }: Field): string {
  if (standard === undefined) return ''
  return ` (default ${shownDefault(standard)})`
}

function shownDefault(standard: Json): string {
  if (typeof standard === 'number') return figure(standard)
  return typeof standard === 'string' ? standard : JSON.stringify(standard)
}

function shownField(said: Field): string {
  const { type, description, minimum, maximum, maxLength, format, properties } = said
  const values = said.enum ?? (type === 'boolean' ? ['true', 'false'] : undefined)
  const range = minimum === undefined || maximum === undefined ? '' : `${figure(minimum)} to ${figure(maximum)} `
  return [
    ...(values === undefined ? [] : [orList.format(values)]),
    ...(range === '' && description === undefined ? [] : [`${range}${description ?? ''}`.trim()]),
    ...(format === 'uri' && maxLength !== undefined ? [`at most ${figure(maxLength)} characters`] : []),
    ...(properties === undefined ? [] : [shownObject(properties)]),
  ].join(', ')
}

const orList = new Intl.ListFormat('en-GB', { type: 'disjunction' })

function shownObject(properties: Readonly<Record<string, { readonly description?: string | undefined }>>): string {
  const descriptions = new Set(Object.values(properties).flatMap(({ description = '' }) => description || []))
  const names = `\`{${Object.keys(properties).join(', ')}}\``
  return descriptions.size === 0 ? names : `${names}, each ${[...descriptions].join(' or ')}`
}

function figure(value: number): string {
  return value.toLocaleString('en-US')
}
