import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { readCompose, readYaml } from './composeFile.ts'

/* The files of deploy/prometheus. Prometheus itself judges the rules where it is installed (Debian: `apt-get install prometheus`). */

const answers = spawnSync('promtool', ['--version']).status === 0

test.skipIf(!answers)('promtool finds every alert of its tests, and no other', () => {
  const files = globSync('deploy/prometheus/tests/*.yml')
  expect(files.length).toBeGreaterThan(1)
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', ...files], { encoding: 'utf8' })
  expect(`${stdout}${stderr}`).toContain('SUCCESS')
  expect(status).toBe(0)
})

const scrapeFile = z.object({
  scrape_configs: z.array(
    z.object({
      static_configs: z.array(z.object({ targets: z.array(z.string()) })),
      dns_sd_configs: z.array(z.object({ names: z.array(z.string()), port: z.int() })),
    }),
  ),
})

test('Prometheus reads the metrics of every instance, that of finance among them', () => {
  const file = scrapeFile.parse(readYaml('deploy/prometheus/prometheus.yml'))
  const read = file.scrape_configs.flatMap(({ static_configs: fixed, dns_sd_configs: found }) => [
    ...fixed.flatMap(({ targets }) => targets),
    ...found.flatMap(({ names, port }) => names.map((name) => `${name}:${port}`)),
  ])
  const services = Object.entries(readCompose().services)
  const instances = services.filter(([, { environment }]) => environment?.['DATABASE_URL_FILE'] !== undefined)
  expect(read).toEqual(instances.map(([name, { environment }]) => `${name}:${environment?.['PORT']}`))
})
