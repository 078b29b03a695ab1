import type { Json } from './canonicalJson.ts'

/*
 * Converts an MCP tool call to the equivalent HTTP request. Both have the same digest, so that a signed debit is
 * charged only once. In a query the parameters are sorted by name, and in a body they are canonical JSON.
 */

const toolNameMax = 64

/** `/api/data/crypto` is `data_crypto`. MCP hosts allow 64 characters: letters, digits, `_` and `-`. */
export function toolNameOf(path: string): string {
  const words = path.split('/').filter((word) => word !== '' && word !== 'api')
  return words
    .join('_')
    .replaceAll(/[^A-Za-z0-9-]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .slice(-toolNameMax)
}

export function methodToolName(path: string, method: string): string {
  return toolNameOf(`${path}/${method.toLowerCase()}`)
}

/**
 * The parameters are sorted by name, so that equal arguments have one digest. A value that is not text is written as
 * JSON.
 */
export function sortedTarget(path: string, values: Readonly<Record<string, Json>>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values))
    query.set(name, typeof value === 'string' ? value : JSON.stringify(value))
  query.sort()
  const text = query.toString()
  return text === '' ? path : `${path}?${text}`
}
