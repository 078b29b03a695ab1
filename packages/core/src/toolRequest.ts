import type { Json } from './canonicalJson.ts'

/*
 * Converts between an MCP tool call and the equal HTTP request. Both have one digest, so that a signed debit is charged
 * once over both: parameters in a query are sorted by name, and those in a body are canonical JSON.
 */

const toolNameMax = 64

/**
 * Returns the name of the tool for a path: `/api/data/crypto` is `data_crypto`. Hosts allow 64 letters, digits, `_` and
 * `-`.
 */
export function toolNameOf(path: string): string {
  const words = path.split('/').filter((word) => word !== '' && word !== 'api')
  return words
    .join('_')
    .replaceAll(/[^A-Za-z0-9-]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .slice(-toolNameMax)
}

/** For a path that has several methods. */
export function methodToolName(path: string, method: string): string {
  return toolNameOf(`${path}/${method.toLowerCase()}`)
}

/** Values that are not texts are JSON. */
export function sortedTarget(path: string, values: Readonly<Record<string, Json>>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values))
    query.set(name, typeof value === 'string' ? value : JSON.stringify(value))
  query.sort()
  const text = query.toString()
  return text === '' ? path : `${path}?${text}`
}
