import { assertPresent } from '@tollbook/core/assert'
import { decodeBase58 } from '@tollbook/core/base58'
import { byteKey } from './byteKey.ts'

/** Programs that the API recognizes: it describes instructions, finds token accounts and marks reserved keys. */
const programs = [
  ['system', '11111111111111111111111111111111'],
  ['token', 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'],
  ['token2022', 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'],
  ['associatedToken', 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'],
  ['memoV1', 'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo'],
  ['memo', 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'],
  ['addressLookupTable', 'AddressLookupTab1e1111111111111111111111111'],
  ['computeBudget', 'ComputeBudget111111111111111111111111111111'],
  ['vote', 'Vote111111111111111111111111111111111111111'],
  ['ed25519', 'Ed25519SigVerify111111111111111111111111111'],
  ['secp256k1', 'KeccakSecp256k11111111111111111111111111111'],
  ['secp256r1', 'Secp256r1SigVerify1111111111111111111111111'],
  ['bpfLoader', 'BPFLoader1111111111111111111111111111111111'],
  ['bpfLoader2', 'BPFLoader2111111111111111111111111111111111'],
  ['upgradeableLoader', 'BPFLoaderUpgradeab1e11111111111111111111111'],
  ['loaderV4', 'LoaderV411111111111111111111111111111111111'],
] as const

export type ProgramName = (typeof programs)[number][0]

const bytesByName: ReadonlyMap<ProgramName, Uint8Array> = new Map(programs.map(([name, id]) => [name, addressOf(id)]))

const namesByKey: ReadonlyMap<string, ProgramName> = new Map(
  [...bytesByName].map(([name, bytes]) => [byteKey(bytes), name]),
)

export function programBytes(name: ProgramName): Uint8Array {
  return assertPresent(bytesByName.get(name), 'every program has an id')
}

export function programNameOf(address: Uint8Array): ProgramName | undefined {
  return namesByKey.get(byteKey(address))
}

export function isTokenProgram(address: Uint8Array): boolean {
  const name = programNameOf(address)
  return name === 'token' || name === 'token2022'
}

/** True for an account that no transaction may write, even if its header requests it. */
export function isReserved(address: Uint8Array): boolean {
  const name = programNameOf(address)
  return (name !== undefined && builtIns.has(name)) || sysvars.has(byteKey(address))
}

/** Agave's reserved keys, limited to the programs of this chain. Token programs are not reserved. */
const builtIns: ReadonlySet<ProgramName> = new Set([
  'system',
  'addressLookupTable',
  'computeBudget',
  'vote',
  'ed25519',
  'secp256k1',
  'secp256r1',
  'bpfLoader',
  'bpfLoader2',
  'upgradeableLoader',
  'loaderV4',
] as const)

/** Accounts that only the runtime writes. A transaction may list them as writable, but does not get write access. */
const sysvars: ReadonlySet<string> = new Set(
  [
    'SysvarC1ock11111111111111111111111111111111',
    'SysvarEpochRewards1111111111111111111111111',
    'SysvarEpochSchedu1e111111111111111111111111',
    'SysvarFees111111111111111111111111111111111',
    'Sysvar1nstructions1111111111111111111111111',
    'SysvarLastRestartS1ot1111111111111111111111',
    'SysvarRecentB1ockHashes11111111111111111111',
    'SysvarRent111111111111111111111111111111111',
    'SysvarRewards111111111111111111111111111111',
    'SysvarS1otHashes111111111111111111111111111',
    'SysvarS1otHistory11111111111111111111111111',
    'SysvarStakeHistory1111111111111111111111111',
  ].map((id) => byteKey(addressOf(id))),
)

function addressOf(id: string): Uint8Array {
  return assertPresent(decodeBase58(id, 32), 'a known address is 32 bytes of base58')
}
