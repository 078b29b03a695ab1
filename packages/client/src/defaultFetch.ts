import type { Fetch } from './solanaRpc.ts'

export const defaultFetch: Fetch = (input, init) => fetch(input, init)
