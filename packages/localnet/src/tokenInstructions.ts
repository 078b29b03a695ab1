import type { AuthorityNames, InstructionLayout } from './instructionLayout.ts'

const authority: AuthorityNames = { single: 'authority', multisig: 'multisigAuthority' }
const owner: AuthorityNames = { single: 'owner', multisig: 'multisigOwner' }
const mintAuthority: AuthorityNames = { single: 'mintAuthority', multisig: 'multisigMintAuthority' }
const freezeAuthority: AuthorityNames = { single: 'freezeAuthority', multisig: 'multisigFreezeAuthority' }

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
 * The instructions of both token programs by their first byte, with the names that
 * Agave gives their parts. All others (confidential transfers, metadata, rarer
 * extensions, Batch) are returned undecoded, as nodes do with unknown programs.
 */
export const tokenInstructions: ReadonlyMap<number, InstructionLayout> = new Map<number, InstructionLayout>([
  [0, { type: 'initializeMint', accounts: ['mint', 'rentSysvar'], fields: mintFields }],
  [1, { type: 'initializeAccount', accounts: ['account', 'mint', 'owner', 'rentSysvar'] }],
  [2, { type: 'initializeMultisig', accounts: ['multisig', 'rentSysvar'], fields: [['m', 'u8']], rest: 'signers' }],
  [3, { type: 'transfer', accounts: ['source', 'destination'], fields: [['amount', 'amount']], authority }],
  [4, { type: 'approve', accounts: ['source', 'delegate'], fields: [['amount', 'amount']], authority: owner }],
  [5, { type: 'revoke', accounts: ['source'], authority: owner }],
  [7, { type: 'mintTo', accounts: ['mint', 'account'], fields: [['amount', 'amount']], authority: mintAuthority }],
  [8, { type: 'burn', accounts: ['account', 'mint'], fields: [['amount', 'amount']], authority }],
  [9, { type: 'closeAccount', accounts: ['account', 'destination'], authority: owner }],
  [10, { type: 'freezeAccount', accounts: ['account', 'mint'], authority: freezeAuthority }],
  [11, { type: 'thawAccount', accounts: ['account', 'mint'], authority: freezeAuthority }],
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
    13,
    {
      type: 'approveChecked',
      accounts: ['source', 'mint', 'delegate'],
      fields: [['tokenAmount', 'tokenAmount']],
      authority: owner,
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
  [17, { type: 'syncNative', accounts: ['account'] }],
  [18, { type: 'initializeAccount3', accounts: ['account', 'mint'], fields: [['owner', 'address']] }],
  [19, { type: 'initializeMultisig2', accounts: ['multisig'], fields: [['m', 'u8']], rest: 'signers' }],
  [20, { type: 'initializeMint2', accounts: ['mint'], fields: mintFields }],
  [21, { type: 'getAccountDataSize', accounts: ['mint'] }],
  [22, { type: 'initializeImmutableOwner', accounts: ['account'] }],
  [23, { type: 'amountToUiAmount', accounts: ['mint'], fields: [['amount', 'amount']] }],
  [
    25,
    { type: 'initializeMintCloseAuthority', accounts: ['mint'], fields: [['newAuthority', 'optionalAddressOrNull']] },
  ],
  [31, { type: 'createNativeMint', accounts: ['payer', 'nativeMint', 'systemProgram'] }],
  [32, { type: 'initializeNonTransferableMint', accounts: ['mint'] }],
  [35, { type: 'initializePermanentDelegate', accounts: ['mint'], fields: [['delegate', 'address']] }],
  [38, { type: 'withdrawExcessLamports', accounts: ['source', 'destination'], authority }],
])

/** `setAuthority` (first byte 6) calls its account by what the authority is over. */
export const setAuthorityByte = 6

/** Authorities 2 and 3 are of a token account, the others of a mint. */
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

/** The transfer fee extension (first byte 26), by the second byte. */
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
  [
    2,
    {
      type: 'withdrawWithheldTokensFromMint',
      accounts: ['mint', 'feeRecipient'],
      authority: { single: 'withdrawWithheldAuthority', multisig: 'multisigWithdrawWithheldAuthority' },
    },
  ],
  [4, { type: 'harvestWithheldTokensToMint', accounts: ['mint'], rest: 'sourceAccounts' }],
  [
    5,
    {
      type: 'setTransferFee',
      accounts: ['mint'],
      fields: feeFields,
      authority: { single: 'transferFeeConfigAuthority', multisig: 'multisigTransferFeeConfigAuthority' },
    },
  ],
])
