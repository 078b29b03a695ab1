import { mkdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Fault } from '@tollbook/core/fault'
import { type DirectoryClaim, claimDirectory } from './directoryClaim.ts'
import { byteKey } from './byteKey.ts'
import { History } from './history.ts'
import { Journal } from './journal.ts'
import type { Genesis, JournalEntry } from './journalEntry.ts'
import { SlotFile } from './slotFile.ts'
import { type Branch, firstSlot } from './slots.ts'
import type { AccountAt } from './svm.ts'
import { decodeRecord } from './transactionRecord.ts'

/** Storage of a chain. All data passed to it survives a kill once the call returns. */
export interface ChainStore {
  append(entry: JournalEntry): void
  assertWritable(): void
  slotReached(slot: number): void
  /** The current position, for `dropFrom`. */
  position(): number
  dropFrom(position: number): void
  close(): Promise<void>
}

/** A chain in its state at the end of its process. */
export interface RestoredChain {
  readonly genesis: Genesis
  readonly slot: number
  readonly branches: readonly Branch[]
  readonly history: History
  readonly programs: readonly { readonly address: Uint8Array; readonly elf: Uint8Array }[]
  /** The last state of every account that a transaction wrote. */
  readonly accounts: Iterable<AccountAt>
}

/** A store for new entries, with the chain that it contained. */
export interface OpenedChain {
  readonly store: ChainStore
  readonly restored: RestoredChain
}

/** Opens a chain that ends with its process, for tests and trials. */
export function openMemoryStore(genesis: Genesis): OpenedChain {
  const nothing = (): void => undefined
  return {
    store: {
      append: nothing,
      assertWritable: nothing,
      slotReached: nothing,
      position: () => 0,
      dropFrom: nothing,
      close: async () => undefined,
    },
    restored: newChain(genesis),
  }
}

/** Opens the directory, or creates it with the given genesis. Only one process at a time may use it. */
export async function openChainStore(directory: string, genesis: Genesis): Promise<OpenedChain> {
  await createDirectory(directory)
  const path = await realpath(directory)
  const claim = await claimDirectory(path)
  try {
    return openFiles({ path, claim, genesis })
  } catch (error) {
    await claim.release()
    throw error
  }
}

/**
 * Not recursive, because Node never ends a recursive mkdir below /proc. A mistyped path is also refused instead of
 * created.
 */
async function createDirectory(directory: string): Promise<void> {
  await mkdir(directory, { mode: 0o700 }).catch(async (cause: unknown) => {
    const found = await stat(directory).catch(() => undefined)
    if (found?.isDirectory() === true) return
    const advice = 'name a folder of this user in a folder that exists'
    throw new Fault(`the folder ${directory} for the state of the chain cannot be created; ${advice}`, {
      cause,
      retryable: false,
    })
  })
}

interface Files {
  readonly path: string
  readonly claim: DirectoryClaim
  readonly genesis: Genesis
}

function openFiles({ path, claim, genesis }: Files): OpenedChain {
  const journal = new Journal(join(path, 'journal'))
  const slotFile = new SlotFile(join(path, 'slot'))
  const restored = restore(journal, slotFile.read())
  if (restored === undefined) journal.append({ kind: 'genesis', genesis })
  const store: ChainStore = {
    append: (entry) => journal.append(entry),
    assertWritable: () => journal.assertWritable(),
    slotReached: (slot) => slotFile.write(slot),
    position: () => journal.length,
    dropFrom: (position) => journal.truncate(position),
    close: async () => {
      journal.close()
      slotFile.close()
      await claim.release()
    },
  }
  return { store, restored: restored ?? newChain(genesis) }
}

/** Creates the chain. Its first branch starts at 0 and not at the first slot, because earlier slots have hashes too. */
function newChain(genesis: Genesis): RestoredChain {
  return {
    genesis,
    slot: firstSlot,
    branches: [{ fromSlot: 0, salt: genesis.hash }],
    history: new History(),
    programs: [],
    accounts: [],
  }
}

/** Restores a chain from the journal's results, without executing transactions again. Undefined if the journal is empty. */
function restore(journal: Journal, savedSlot: number | undefined): RestoredChain | undefined {
  let chain: RestoredChain | undefined
  const branches: Branch[] = []
  const programs: { address: Uint8Array; elf: Uint8Array }[] = []
  const accounts = new Map<string, AccountAt>()
  let slot = Math.max(firstSlot, savedSlot ?? 0)
  // Collect the accounts first, because the engine needs only the last state of each.
  for (const entry of journal.recover()) {
    if (entry.kind === 'genesis') chain = newChain(entry.genesis)
    else if (entry.kind === 'branch') branches.push(entry.branch)
    else if (entry.kind === 'program') programs.push(entry)
    else if (entry.kind === 'account') accounts.set(byteKey(entry.account.address), entry.account)
    else if (chain !== undefined) {
      slot = Math.max(slot, restoreLanded(chain.history, entry.record))
      for (const account of entry.changed) accounts.set(byteKey(account.address), account)
    }
  }
  if (chain === undefined) return undefined
  // Open a new slot, so that clients that saw the old one do not miss a transaction in it.
  return { ...chain, slot: slot + 1, branches: [...chain.branches, ...branches], programs, accounts: accounts.values() }
}

function restoreLanded(history: History, bytes: Uint8Array): number {
  // Copy to separate memory, so that the history does not keep the whole journal entry alive.
  const stored = new Uint8Array(bytes)
  const record = decodeRecord(stored)
  history.append(record, stored)
  return record.slot
}
