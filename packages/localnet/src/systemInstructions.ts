import type { InstructionLayout } from './instructionLayout.ts'

/**
 * The system program's instructions that create accounts and move SOL, by their discriminator, a u32 in the data. Other
 * instructions are returned undecoded.
 */
export const systemInstructions: ReadonlyMap<number, InstructionLayout> = new Map<number, InstructionLayout>([
  [
    0,
    {
      type: 'createAccount',
      accounts: ['source', 'newAccount'],
      fields: [
        ['lamports', 'u64'],
        ['space', 'u64'],
        ['owner', 'address'],
      ],
    },
  ],
  [2, { type: 'transfer', accounts: ['source', 'destination'], fields: [['lamports', 'u64']] }],
])
