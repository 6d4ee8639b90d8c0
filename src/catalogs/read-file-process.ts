import { parseCatalogFile } from '@catalog-bot/fbc/load/parse-catalog-file'
import { serveWorkerRequests } from '../adapters/workers/answer-orders.ts'

serveWorkerRequests((bytes: Uint8Array) => parseCatalogFile(bytes))
