import { parseCatalogFile } from '@catalog-bot/fbc/load/parse-catalog-file'
import { serveWorkerOrders } from '../adapters/workers/answer-orders.ts'

serveWorkerOrders((bytes: Uint8Array) => parseCatalogFile(bytes))
