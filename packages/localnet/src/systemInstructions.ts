import type { InstructionLayout } from './instructionLayout.ts'

/**
 * The system program's instructions with the names that Agave gives their parts. The place in the list is the
 * discriminator, a u32 in the data, so there are no gaps; newer instructions than these are answered undecoded.
 */
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
