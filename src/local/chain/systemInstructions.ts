import type { InstructionLayout } from './instructionLayout.ts'

/** By the discriminator, a u32. */
export const systemInstructions: readonly InstructionLayout[] = [
  {
    type: 'createAccount',
    accounts: ['source', 'newAccount'],
    fields: [
      ['lamports', 'u64'],
      ['space', 'u64'],
      ['owner', 'address'],
    ],
  },
  { type: 'assign', accounts: ['account'], fields: [['owner', 'address']] },
  { type: 'transfer', accounts: ['source', 'destination'], fields: [['lamports', 'u64']] },
  {
    type: 'createAccountWithSeed',
    accounts: ['source', 'newAccount'],
    fields: [
      ['base', 'address'],
      ['seed', 'seed'],
      ['lamports', 'u64'],
      ['space', 'u64'],
      ['owner', 'address'],
    ],
  },
  { type: 'advanceNonce', accounts: ['nonceAccount', 'recentBlockhashesSysvar', 'nonceAuthority'] },
  {
    type: 'withdrawFromNonce',
    accounts: ['nonceAccount', 'destination', 'recentBlockhashesSysvar', 'rentSysvar', 'nonceAuthority'],
    fields: [['lamports', 'u64']],
  },
  {
    type: 'initializeNonce',
    accounts: ['nonceAccount', 'recentBlockhashesSysvar', 'rentSysvar'],
    fields: [['nonceAuthority', 'address']],
  },
  { type: 'authorizeNonce', accounts: ['nonceAccount', 'nonceAuthority'], fields: [['newAuthorized', 'address']] },
  { type: 'allocate', accounts: ['account'], fields: [['space', 'u64']] },
  {
    type: 'allocateWithSeed',
    accounts: ['account'],
    fields: [
      ['base', 'address'],
      ['seed', 'seed'],
      ['space', 'u64'],
      ['owner', 'address'],
    ],
  },
  {
    type: 'assignWithSeed',
    accounts: ['account'],
    fields: [
      ['base', 'address'],
      ['seed', 'seed'],
      ['owner', 'address'],
    ],
  },
  {
    type: 'transferWithSeed',
    accounts: ['source', 'sourceBase', 'destination'],
    fields: [
      ['lamports', 'u64'],
      ['sourceSeed', 'seed'],
      ['sourceOwner', 'address'],
    ],
  },
  { type: 'upgradeNonce', accounts: ['nonceAccount'] },
]
