import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { machineChecks } from '../../src/doctor/machineChecks.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

test('an artifact folder that the service will create passes, and one below a missing folder does not', async () => {
  const folder = await makeScratchDirectory()
  const verdictOf = async (directory: string) => {
    const checks = machineChecks(readConfig({ ARTIFACT_DIR: directory }))
    return (await checks.find(({ name }) => name === 'artifact folder')?.run())?.verdict
  }
  // A full disk is a warning.
  expect(await verdictOf(join(folder, 'new'))).toMatch(/^(ok|warning)$/)
  expect(await verdictOf(join(folder, 'missing', 'new'))).toBe('failed')
})
