/* Names with a dot become members of an object. Empty fields are omitted. */

import { fillTemplate, segmentNames } from '@tollbook/core/pathTemplate'

export type Order = Record<string, unknown>

type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

function fieldsOf(form: HTMLFormElement): readonly Field[] {
  return [...form.elements].filter(
    (field) =>
      field instanceof HTMLInputElement || field instanceof HTMLSelectElement || field instanceof HTMLTextAreaElement,
  )
}

export function readOrder(form: HTMLFormElement): Order {
  const order: Order = {}
  for (const field of fieldsOf(form)) {
    const value = readValue(field)
    if (field.name === '' || value === undefined) continue
    const path = field.name.split('.').map((name) => decodeURIComponent(name))
    put(order, path, value)
  }
  return order
}

function put(holder: Order, [name = '', ...inner]: readonly string[], value: unknown): Order {
  holder[name] = inner.length === 0 ? value : put({ ...Object(holder[name]) }, inner, value)
  return holder
}

/**
 * Returns the value of a field. Undefined for an empty field, and for a checkbox that has its default, because the
 * order omits both.
 */
function readValue(field: Field): unknown {
  if (field instanceof HTMLInputElement && field.type === 'checkbox')
    return field.checked === (field.dataset['standard'] === 'true') ? undefined : field.checked
  if (field.value === '') return undefined
  if (field.type === 'number') return Number(field.value)
  if (field.dataset['json'] === undefined) return field.value
  try {
    return JSON.parse(field.value)
  } catch (cause) {
    throw new Error(`${field.name} must be JSON`, { cause })
  }
}

export function fillFrom(form: HTMLFormElement, query: string): void {
  const values = new URLSearchParams(query)
  for (const field of fieldsOf(form)) {
    const value = values.get(decodeURIComponent(field.name))
    if (value !== null && field.type !== 'checkbox') field.value = value
  }
}

/** Returns the request of an order. GET and DELETE have a query, and other methods a JSON body. */
export function requestOf(method: string, path: string, order: Order) {
  const names = new Set(segmentNames(path))
  const rest = Object.entries(order).filter(([name]) => !names.has(name))
  const target = fillTemplate(path, order)
  if (method === 'GET' || method === 'DELETE') {
    const texts = rest.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)])
    return { target: `${target}?${new URLSearchParams(texts).toString()}`, method, headers: {} }
  }
  const headers = { 'content-type': 'application/json' }
  return { target, method, headers, body: JSON.stringify(Object.fromEntries(rest)) }
}
