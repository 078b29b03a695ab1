import { execFile } from 'node:child_process'
import { cp, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

test('the scripts of pages are bundled in an image, which has no tsconfig.json', async () => {
  const app = await makeScratchDirectory()
  await cp('src', join(app, 'src'), { recursive: true })
  await symlink(join(process.cwd(), 'node_modules'), join(app, 'node_modules'))
  const { stdout } = await promisify(execFile)(process.execPath, [join(app, 'src/pages/bundlePages.ts'), 'burn'])
  expect(Object.keys(JSON.parse(stdout))).toEqual(['burn'])
})
