import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { onceAlive } from './onceAlive.ts'

test('a process that ends at its start fails the wait for its event', async () => {
  const child = spawn(process.execPath, ['/nowhere/my%20program.js'], { stdio: ['ignore', 'pipe', 'ignore', 'ipc'] })
  await expect(onceAlive(child, 'message')).rejects.toThrow('ended with 1 before its event "message"')
})

test('a program that does not exist fails the wait for its event', async () => {
  const child = spawn('/nowhere/program', { stdio: 'ignore' })
  await expect(onceAlive(child, 'message')).rejects.toThrow('ENOENT')
})
