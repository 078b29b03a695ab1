import type { PaymentLife } from '../payment/paymentLife.ts'
import type { Database } from './database.ts'
import { runElected } from './election.ts'
import { exposureBaseUnits, findOpen, loadPayments } from './openPayments.ts'
import { findAccounted, moveScanPlace, readScanPlace } from './transferScan.ts'

export function createPaymentLife(database: Database): PaymentLife {
  return {
    findOpen: (question, max) => findOpen(database, question, max),
    loadPayments: (signatures) => loadPayments(database, signatures),
    findAccounted: (signatures) => findAccounted(database, signatures),
    readScanPlace: (tokenAccount) => readScanPlace(database, tokenAccount),
    moveScanPlace: (tokenAccount, place) => moveScanPlace(database, tokenAccount, place),
    exposureBaseUnits: () => exposureBaseUnits(database),
    runElected: (name, work) => runElected(database, name, work),
  }
}
