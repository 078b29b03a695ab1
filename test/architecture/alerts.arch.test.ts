import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { expect, test } from 'vitest'

/* The rules of deploy/prometheus, judged by Prometheus itself where it is installed (Debian: `apt-get install prometheus`). */

const answers = spawnSync('promtool', ['--version']).status === 0

test.skipIf(!answers)('promtool finds every alert of its tests, and no other', () => {
  const files = globSync('deploy/prometheus/tests/*.yml')
  expect(files.length).toBeGreaterThan(1)
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', ...files], { encoding: 'utf8' })
  expect(`${stdout}${stderr}`).toContain('SUCCESS')
  expect(status).toBe(0)
})
