import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

const places = ['src', 'packages', 'test', 'bench', 'scripts']

test('no path is the pathname of a URL: a folder with a blank in its name is not found under %20', () => {
  const pattern = String.raw`import\.meta\.(url|resolve\([^)]*\))\)\.pathname`
  const files = execFileSync('git', ['ls-files', '-z', ...places], { encoding: 'utf8' }).split('\0')
  expect(files.length).toBeGreaterThan(1_000)
  expect(() => execFileSync('git', ['grep', '-nE', pattern, '--', ...places], { encoding: 'utf8' })).toThrow(
    expect.objectContaining({ status: 1, stdout: '' }),
  )
})
