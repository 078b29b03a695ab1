import {
  type CompiledQuery,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type DatabaseConnection,
  type Driver,
} from 'kysely'
import { deserialize, serialize } from 'node:v8'
import { z } from 'zod'
import type { QueryRunner } from '@tollbook/ledger/database'
import type { Database } from '../../src/store/database.ts'
import type { Tables } from '../../src/store/tables.ts'
import type { SimulatedPostgres, Statement } from './simulatedPostgres.ts'

/**
 * Carries one call between an instance and something outside: `work` runs at the other end. Rejects when the call or
 * its answer is lost, and never settles when the instance that asked is dead.
 */
export type Carry = <T>(work: () => T) => Promise<T>

/** An instance's connection pool: for the ledger, and for typed queries. */
export interface SimulatedPool {
  readonly runner: QueryRunner
  readonly database: Database
}

export function connectPool(postgres: SimulatedPostgres, carry: Carry): SimulatedPool {
  // The copy is what a wire does, and its type is what a wire knows.
  const ask = (statement: Statement) => carry(() => postgres.execute(statement)).then((rows) => copyOf(rows))
  const driver: Driver = {
    init: () => Promise.resolve(),
    acquireConnection: () => Promise.resolve(connectionOf(ask)),
    beginTransaction: () => Promise.reject(new Error('the service opens no transactions')),
    commitTransaction: () => Promise.resolve(),
    rollbackTransaction: () => Promise.resolve(),
    releaseConnection: () => Promise.resolve(),
    destroy: () => Promise.resolve(),
  }
  const database = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => driver,
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  })
  return { runner: { query: (asked: unknown) => queryRows(ask, asked) }, database }
}

const statement = z.object({ text: z.string(), values: z.array(z.unknown()).optional() })

type Ask = (statement: Statement) => Promise<readonly object[]>

/** Typed as the answer of a wire: the caller of `query` says what it expects. */
function queryRows(ask: Ask, asked: unknown): ReturnType<typeof deserialize> {
  const { text, values = [] } = statement.parse(asked)
  return ask({ text, values }).then((rows) => ({ rows }))
}

function connectionOf(ask: Ask): DatabaseConnection {
  return {
    executeQuery: (query: CompiledQuery) => queryOf(ask, { text: query.sql, values: query.parameters }),
    streamQuery: () => {
      throw new Error('the service streams no rows in a simulation')
    },
  }
}

function queryOf(ask: Ask, statement: Statement): ReturnType<typeof deserialize> {
  return ask(statement).then((rows) => ({ rows }))
}

function copyOf(rows: readonly object[]): ReturnType<typeof deserialize> {
  return deserialize(serialize(rows))
}
