import type { Json } from '@tollbook/core/canonicalJson'
import { preparePublicBody, type PublicBody } from './publicBody.ts'

/** The member `asOf` contains the time at which the facts are true. */
export type DatedFacts = Readonly<Record<string, Json>>

/**
 * Creates a function that prepares a document. While the facts do not change, the body keeps its first `asOf`. The
 * entity tag then stays the same, and a client that polls gets a 304.
 */
export function createPublicDocument(): (facts: DatedFacts) => Promise<PublicBody> {
  const prepare = createPublicText()
  return (facts) =>
    prepare(JSON.stringify({ ...facts, asOf: null }), () => JSON.stringify({ success: true, data: facts }))
}

/**
 * Creates a function that prepares a text. It prepares the text again only if the version has changed, because each
 * preparation renders and compresses the text.
 */
export function createPublicText(): (version: string, render: () => string) => Promise<PublicBody> {
  let known: { readonly version: string; readonly body: Promise<PublicBody> } | undefined
  return (version, render) => {
    if (known?.version !== version) known = { version, body: preparePublicBody(render()) }
    return known.body
  }
}
