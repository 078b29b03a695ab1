#!/usr/bin/env node
import '@tollbook/core/quietBindings'
import { errorText, Fault } from '@tollbook/core/fault'
import { localnetCommand } from './localnetCommand.ts'

// Use port 8899, because Solana tools expect a local node at this port.
const settings = () => ({ port: 8_899, stateDirectory: '.localnet' })

try {
  await localnetCommand({ name: 'tollbook-localnet', settings }).parseAsync()
} catch (error) {
  if (!(error instanceof Fault)) throw error
  process.stderr.write(`${errorText(error)}\n`)
  process.exitCode = 1
}
