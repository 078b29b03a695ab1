/* The combinations of a payment, of what its operator changes, and of the client that paid it. */

export const kinds = ['signature', 'transaction', 'bound', 'x402', 'mpp'] as const
export const changes = [
  'restart',
  'other machine',
  'journal lost',
  'clock off',
  'fee payer changed',
  'mint terms changed',
  'receipt key changed',
  'wallet changed',
  'price list replaced',
] as const
export const states = ['submitted', 'landed', 'verified', 'released', 'unsent', 'sent'] as const
export const clients = ['@x402/fetch', '@solana/mpp', 'ours'] as const

export type Kind = (typeof kinds)[number]
export type Change = (typeof changes)[number]
export type State = (typeof states)[number]
export type Client = (typeof clients)[number]

export interface Cell {
  readonly kind: Kind
  readonly change: Change
  readonly state: State
  readonly client: Client
}

const protocolOf: Readonly<Record<Client, Kind | undefined>> = {
  '@x402/fetch': 'x402',
  '@solana/mpp': 'mpp',
  ours: undefined,
}

/** Reason why a combination does not exist. */
function whyImpossible({ kind, change, state, client }: Cell): string | undefined {
  // `rails/native/feeChange.e2e.test.ts` has the transfer fee of Token-2022, by which less arrives than was sent.
  if (change === 'mint terms changed') return 'the mint of the scene is of SPL Token, of which no term changes'
  const protocol = protocolOf[client]
  if (protocol !== undefined && protocol !== kind) return `${client} pays by ${protocol} only`
  if (kind === 'signature' && state === 'submitted') return 'the payer has sent it, so the service records no sending'
  return undefined
}

/** The whole product. */
export function allCells(): readonly Cell[] {
  return changes.flatMap((change) =>
    states.flatMap((state) => kinds.flatMap((kind) => clients.map((client) => ({ kind, change, state, client })))),
  )
}

export function possibleCells(): readonly Cell[] {
  return allCells().filter((cell) => whyImpossible(cell) === undefined)
}

/**
 * For each change and state one payment, so that each pair of kind and client meets each state, and each of the first
 * two each change.
 */
export function coreCells(): readonly Cell[] {
  const buyers = kinds.flatMap((kind) => clients.map((client) => ({ kind, client })))
  return changes.flatMap((change, row) =>
    states.flatMap((state, column) => {
      const possible = buyers
        .map((buyer) => ({ ...buyer, change, state }))
        .filter((cell) => whyImpossible(cell) === undefined)
      const cell = possible[(2 * row + column) % possible.length]
      return cell === undefined ? [] : [cell]
    }),
  )
}

export function nameOf({ kind, change, state, client }: Cell): string {
  return `${kind} by ${client}, ${state}, ${change}`
}
