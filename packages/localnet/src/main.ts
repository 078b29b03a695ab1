#!/usr/bin/env node
import '@tollbook/core/quietBindings'
import { localnetCommand } from './localnetCommand.ts'

// Port 8899 is where every Solana tool looks for a local node.
const settings = () => ({ port: 8_899, stateDirectory: '.localnet' })

await localnetCommand({ name: 'tollbook-localnet', settings }).parseAsync()
