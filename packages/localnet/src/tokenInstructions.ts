import type { AuthorityNames, InstructionLayout } from './instructionLayout.ts'

const authority: AuthorityNames = { single: 'authority', multisig: 'multisigAuthority' }
const owner: AuthorityNames = { single: 'owner', multisig: 'multisigOwner' }
const mintAuthority: AuthorityNames = { single: 'mintAuthority', multisig: 'multisigMintAuthority' }

const mintFields = [
  ['decimals', 'u8'],
  ['mintAuthority', 'address'],
  ['freezeAuthority', 'optionalAddress'],
] as const

const feeFields = [
  ['transferFeeBasisPoints', 'u16'],
  ['maximumFee', 'u64'],
] as const

/**
 * The instructions of both token programs by their first byte, with Agave's names for their parts. All others
 * (delegates, freezing, extensions except the transfer fee, Batch) are returned undecoded, as nodes return unknown
 * programs.
 */
export const tokenInstructions: ReadonlyMap<number, InstructionLayout> = new Map<number, InstructionLayout>([
  [0, { type: 'initializeMint', accounts: ['mint', 'rentSysvar'], fields: mintFields }],
  [1, { type: 'initializeAccount', accounts: ['account', 'mint', 'owner', 'rentSysvar'] }],
  [3, { type: 'transfer', accounts: ['source', 'destination'], fields: [['amount', 'amount']], authority }],
  [7, { type: 'mintTo', accounts: ['mint', 'account'], fields: [['amount', 'amount']], authority: mintAuthority }],
  [8, { type: 'burn', accounts: ['account', 'mint'], fields: [['amount', 'amount']], authority }],
  [9, { type: 'closeAccount', accounts: ['account', 'destination'], authority: owner }],
  [
    12,
    {
      type: 'transferChecked',
      accounts: ['source', 'mint', 'destination'],
      fields: [['tokenAmount', 'tokenAmount']],
      authority,
    },
  ],
  [
    14,
    {
      type: 'mintToChecked',
      accounts: ['mint', 'account'],
      fields: [['tokenAmount', 'tokenAmount']],
      authority: mintAuthority,
    },
  ],
  [15, { type: 'burnChecked', accounts: ['account', 'mint'], fields: [['tokenAmount', 'tokenAmount']], authority }],
  [16, { type: 'initializeAccount2', accounts: ['account', 'mint', 'rentSysvar'], fields: [['owner', 'address']] }],
  [18, { type: 'initializeAccount3', accounts: ['account', 'mint'], fields: [['owner', 'address']] }],
  [20, { type: 'initializeMint2', accounts: ['mint'], fields: mintFields }],
  [21, { type: 'getAccountDataSize', accounts: ['mint'] }],
  [22, { type: 'initializeImmutableOwner', accounts: ['account'] }],
])

/** First byte of `setAuthority`, which names its account by the kind of the authority. */
export const setAuthorityByte = 6

/** Authorities 2 and 3 belong to a token account, the others to a mint. */
export function setAuthorityLayout(authorityType: number | undefined): InstructionLayout {
  const overAccount = authorityType === 2 || authorityType === 3
  return {
    type: 'setAuthority',
    accounts: [overAccount ? 'account' : 'mint'],
    fields: [
      ['authorityType', 'authorityType'],
      ['newAuthority', 'optionalAddressOrNull'],
    ],
    authority,
  }
}

/** First byte of the transfer fee extension. The second byte selects the instruction. */
export const transferFeeByte = 26

export const transferFeeInstructions: ReadonlyMap<number, InstructionLayout> = new Map<number, InstructionLayout>([
  [
    0,
    {
      type: 'initializeTransferFeeConfig',
      accounts: ['mint'],
      fields: [
        ['transferFeeConfigAuthority', 'optionalAddress'],
        ['withdrawWithheldAuthority', 'optionalAddress'],
        ...feeFields,
      ],
    },
  ],
  [
    1,
    {
      type: 'transferCheckedWithFee',
      accounts: ['source', 'mint', 'destination'],
      fields: [['tokenAmount', 'tokenAmount']],
      authority,
    },
  ],
])
