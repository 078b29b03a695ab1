import { join } from 'node:path'
import type { Command } from 'commander'
import { localnetCommand } from '@tollbook/localnet/localnetCommand'
import { readConfig } from '../config.ts'
import { createLog } from '../machine/log.ts'
import { enterableFolder, openFolder } from './local/home.ts'

// Default port of a local node in all Solana tools.
const standardPort = 8_899

export function chainCommand(): Command {
  return localnetCommand({
    name: 'chain',
    async settings(keepsState) {
      const { logLevel, local } = readConfig()
      if (keepsState) await openFolder(local.home, enterableFolder)
      return {
        port: standardPort,
        // Not `chain`, because local mode stores the state of its own chain in that folder.
        stateDirectory: join(local.home, 'chain-alone'),
        log: createLog({ level: logLevel, name: 'tollbook chain' }),
      }
    },
  })
}
