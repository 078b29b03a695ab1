import type { Fetch } from './solanaRpc.ts'

/** The `fetch` of the platform, for callers who pass no other. */
export const defaultFetch: Fetch = (input, init) => fetch(input, init)
