import type { Client } from 'pg'
import { sha256Hex } from '@tollbook/core/digest'
import { randomBytesOf } from '@tollbook/core/id'
import { withAdminSession } from './adminSession.ts'

/** A migrated database without connections, from which each test file's own is copied. Plain data: it crosses processes. */
export interface DatabaseTemplate {
  readonly adminUrl: string
  readonly name: string
}

export interface TemplateOptions {
  readonly adminUrl: string
  readonly migrate: (options: { databaseUrl: string }) => Promise<unknown>
}

export type TestRole = 'tollbook_owner' | 'tollbook_api'

/** Roles belong to the server, not to a database, so two runs on one server take turns here. */
export async function createDatabaseTemplate(options: TemplateOptions): Promise<DatabaseTemplate> {
  const { adminUrl, migrate } = options
  const name = newDatabaseName('tollbook_template')
  await withAdminSession(adminUrl, async (admin) => {
    await admin.query('select pg_advisory_lock($1)', [templateLockId])
    // 4,096 by default, for each of some 1,200 connections of a run. Postgres before 16 has no such setting.
    await admin.query(`select set_config(name, '1', false) from pg_settings where name = 'scram_iterations'`)
    await createRole(admin, { role: 'tollbook_owner', attributes: 'createrole', adminUrl })
    await createRole(admin, { role: 'tollbook_api', attributes: 'nocreaterole', adminUrl })
    await admin.query(`create database ${name} owner tollbook_owner`)
    await migrate({ databaseUrl: roleUrl({ adminUrl, role: 'tollbook_owner', database: name }) })
    await admin.query('grant tollbook_service to tollbook_api')
    await admin.query(`alter database ${name} with allow_connections false`)
  })
  return { adminUrl, name }
}

export function roleUrl(options: { adminUrl: string; role: TestRole; database: string }): string {
  const url = new URL(databaseUrl(options.adminUrl, options.database))
  url.username = options.role
  url.password = rolePassword(options.adminUrl, options.role)
  return url.href
}

export async function dropDatabaseTemplate(template: DatabaseTemplate): Promise<void> {
  await withAdminSession(template.adminUrl, (admin) => admin.query(`drop database if exists ${template.name}`))
}

/** The administrator's own, to another database of the same server. */
export function databaseUrl(adminUrl: string, database: string): string {
  const url = new URL(adminUrl)
  url.pathname = `/${database}`
  return url.href
}

export function newDatabaseName(stem: string): string {
  return `${stem}_${Buffer.from(randomBytesOf(6)).toString('hex')}`
}

interface RoleOptions {
  readonly role: TestRole
  readonly attributes: string
  readonly adminUrl: string
}

async function createRole(admin: Client, options: RoleOptions): Promise<void> {
  const { rowCount } = await admin.query('select from pg_roles where rolname = $1', [options.role])
  const verb = rowCount === 0 ? 'create' : 'alter'
  const password = admin.escapeLiteral(rolePassword(options.adminUrl, options.role))
  await admin.query(`${verb} role ${options.role} login ${options.attributes} password ${password}`)
}

/** Derived, not drawn: a second run on the same server sets the same password and does not lock the first one out. */
function rolePassword(adminUrl: string, role: TestRole): string {
  return sha256Hex(`${new URL(adminUrl).password} ${role}`)
}

/** Any number, the same in each run. */
const templateLockId = 3402
