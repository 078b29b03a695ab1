import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { environmentNames } from '../../src/config.ts'
import { readText, readYaml, root } from './composeFile.ts'

/* Checks of the chart that need no Helm; `npm run proof chart` renders and validates it. */

const secret = z.object({ name: z.string(), keys: z.record(z.string(), z.string()) })
const valuesFile = z.object({ settings: z.record(z.string(), z.string()), secrets: z.record(z.string(), secret) })
const { settings, secrets } = valuesFile.parse(readYaml('deploy/helm/tollbook/values.yaml'))

test('every variable and every secret of the chart is one that the configuration reads', () => {
  const keys = Object.values(secrets).flatMap((one) => Object.keys(one.keys))
  const names = [...Object.keys(settings), ...keys]
  expect(names.length).toBeGreaterThan(10)
  expect(names.filter((name) => !environmentNames.includes(name))).toEqual([])
})

test('the pods have separate secrets, and the values have none', () => {
  const names = Object.values(secrets).map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  expect(readText('deploy/helm/tollbook/values.yaml')).not.toMatch(/postgres:\/\/|"kty"/)
})

test('the key of the fee payer is mounted by the signer only', () => {
  const templates = globSync('deploy/helm/tollbook/templates/*', { cwd: fileURLToPath(root) })
  const readers = templates.filter((file) => readText(file).includes('secrets.signer'))
  expect(readers).toEqual(['deploy/helm/tollbook/templates/signer.yaml'])
  expect(secrets['signer']?.keys).toEqual({ SIGNER_DATABASE_URL: 'database-url' })
})

test('the signer reads the variables of the service, with the former wallet of a change among them', () => {
  expect(settings).toHaveProperty('SIGNER_FORMER_WALLET', '')
  expect(readText('deploy/helm/tollbook/templates/signer.yaml')).toContain('include "tollbook.settings"')
})

test('the schema of the values knows every value at the top', () => {
  const schema = z
    .object({ properties: z.record(z.string(), z.unknown()) })
    .parse(JSON.parse(readText('deploy/helm/tollbook/values.schema.json')))
  const given = z.record(z.string(), z.unknown()).parse(readYaml('deploy/helm/tollbook/values.yaml'))
  expect(Object.keys(given).filter((name) => !Object.hasOwn(schema.properties, name))).toEqual([])
})

test('the key of the anchor is mounted by its own job only, and its job has no login of the database', () => {
  const readers = globSync('deploy/helm/tollbook/templates/*', { cwd: fileURLToPath(root) }).filter((file) =>
    readText(file).includes('secrets.anchor'),
  )
  expect(readers).toEqual(['deploy/helm/tollbook/templates/publishing.yaml'])
  expect(secrets['anchor']?.keys).toEqual({ ANCHOR_RPC_URL: 'rpc-url' })
  expect(readText('deploy/helm/tollbook/templates/publishing.yaml')).not.toMatch(
    /secrets\.(?!anchor)|tollbook\.settings/,
  )
})

test('Prometheus reads the instances and that of finance, as the job that the alerts name', () => {
  const [, monitor = ''] = readText('deploy/helm/tollbook/templates/services.yaml').split('kind: ServiceMonitor')
  expect(monitor).toContain('values: [instances, finance]')
  expect(monitor).toContain('{ targetLabel: job, replacement: tollbook }')
  const [, service = ''] = readText('deploy/helm/tollbook/templates/finance.yaml').split('kind: Service\n')
  expect(service).toMatch(/labels:\n.*\n +app.kubernetes.io\/component: finance/)
  expect(service).toContain('{ name: health, port: 3410, targetPort: health }')
})
