import type { z } from 'zod'
import type { Json } from '@tollbook/core/canonicalJson'
import { type Field, fieldOf, formOf } from './parameterForm.ts'

export function shownParameters(schema: z.ZodType): string {
  const { properties, required, alternatives } = formOf(schema)
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

// British English writes no comma before the last `or`, so a list of values reads as one phrase.
const orList = new Intl.ListFormat('en-GB', { type: 'disjunction' })

function shownObject(properties: NonNullable<Field['properties']>): string {
  const descriptions = new Set(Object.values(properties).flatMap((member) => fieldOf(member).description || []))
  const names = `\`{${Object.keys(properties).join(', ')}}\``
  return descriptions.size === 0 ? names : `${names}, each ${[...descriptions].join(' or ')}`
}

function figure(value: number): string {
  return value.toLocaleString('en-US')
}
