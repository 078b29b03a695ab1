import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'

/* The rules of deploy/prometheus, judged by Prometheus itself where it is installed (Debian: `apt-get install prometheus`). */

const answers = spawnSync('promtool', ['--version']).status === 0

test.skipIf(!answers)('promtool finds every alert of its tests, and no other', () => {
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', 'deploy/prometheus/tests/alerts.yml'], {
    encoding: 'utf8',
  })
  expect(`${stdout}${stderr}`).toContain('SUCCESS')
  expect(status).toBe(0)
})
