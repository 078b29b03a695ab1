import { type Tampering, changed } from './tampering.ts'

/* Checkpoints and tiles. */

export const tamperedSeals: readonly Tampering[] = [
  {
    name: 'the root of a checkpoint',
    run: async (ledger) => {
      const size = await ledger.checkpointOver(100)
      await ledger.sql(`update ledger.checkpoints set root = sha256('x') where size = ${size}`)
      return { aspect: 'integrity', code: 'checkpoint_root_differs', position: size }
    },
  },
  {
    name: 'the note of a checkpoint',
    run: async (ledger) => {
      const size = await ledger.checkpointOver(100)
      await ledger.sql(
        `update ledger.checkpoints set note = replace(note, '${size}', '${size + 1}') where size = ${size}`,
      )
      return { aspect: 'integrity', code: 'checkpoint_malformed', position: size }
    },
  },
  {
    name: 'the signature of a checkpoint',
    run: async (ledger) => {
      const size = await ledger.checkpointOver(100)
      const other = await ledger.checkpointOver(1)
      await ledger.sql(`update ledger.checkpoints set note = split_part(note, E'\\n\\n', 1) || E'\\n\\n' ||
        (select split_part(note, E'\\n\\n', 2) from ledger.checkpoints where size = ${other}) where size = ${size}`)
      return { aspect: 'integrity', code: 'checkpoint_signature_wrong', position: size }
    },
  },
  {
    name: 'the hash in the head',
    run: async (ledger) => {
      const position = await ledger.head()
      await ledger.sql(`update ledger.head set leaf_hash = sha256('x')`)
      return { aspect: 'completeness', code: 'head_differs', position }
    },
  },
  changed(
    'a hash of a tile',
    { aspect: 'integrity', code: 'tile_differs', position: 41 },
    `update ledger.tiles set hashes = overlay(hashes placing sha256('x') from 32 * 40 + 1) where level = 0 and index = 0`,
  ),
  changed(
    'the root of a tile',
    { aspect: 'integrity', code: 'tile_differs', position: 1 },
    `update ledger.tiles set root = sha256('x') where level = 0 and index = 0`,
  ),
  changed(
    'a tile deleted',
    { aspect: 'integrity', code: 'tile_differs', position: 1 },
    'delete from ledger.tiles where level = 0 and index = 0',
  ),
  {
    name: 'a tile of events that do not exist',
    run: async (ledger) => {
      await ledger.sql('insert into ledger.tiles select level, 9999, hashes, root from ledger.tiles limit 1')
      return { aspect: 'integrity', code: 'tile_differs', position: 9999 * 256 + 1 }
    },
  },
]
