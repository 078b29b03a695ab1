import type { Json } from '@tollbook/core/canonicalJson'
import { preparePublicBody, type PublicBody } from './publicBody.ts'

/** Facts of a moment, which `asOf` names. */
export type DatedFacts = Readonly<Record<string, Json>>

/**
 * Renders facts in the envelope of the API. While they do not change, the same body is returned with its first `asOf`: its
 * entity tag stays, and a client that polls gets a 304.
 */
export function createPublicDocument(): (facts: DatedFacts) => Promise<PublicBody> {
  const prepare = createPublicText()
  return (facts) =>
    prepare(JSON.stringify({ ...facts, asOf: null }), () => JSON.stringify({ success: true, data: facts }))
}

/** Renders and prepares a text again only when its version is another one. */
export function createPublicText(): (version: string, render: () => string) => Promise<PublicBody> {
  let known: { readonly version: string; readonly body: Promise<PublicBody> } | undefined
  return (version, render) => {
    if (known?.version !== version) known = { version, body: preparePublicBody(render()) }
    return known.body
  }
}
