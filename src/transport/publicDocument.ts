import type { Json } from '@tollbook/core/canonicalJson'
import { preparePublicBody, type PublicBody } from './publicBody.ts'

/** Facts that are true at one time. The member `asOf` contains this time. */
export type DatedFacts = Readonly<Record<string, Json>>

/**
 * Creates a function that renders facts in the envelope of the API. While the facts do not change, it returns the same
 * body with its first `asOf`. The entity tag then stays the same, and a client that polls gets a 304.
 */
export function createPublicDocument(): (facts: DatedFacts) => Promise<PublicBody> {
  const prepare = createPublicText()
  return (facts) =>
    prepare(JSON.stringify({ ...facts, asOf: null }), () => JSON.stringify({ success: true, data: facts }))
}

/** Creates a function that renders and prepares a text again only if the version has changed. */
export function createPublicText(): (version: string, render: () => string) => Promise<PublicBody> {
  let known: { readonly version: string; readonly body: Promise<PublicBody> } | undefined
  return (version, render) => {
    if (known?.version !== version) known = { version, body: preparePublicBody(render()) }
    return known.body
  }
}
