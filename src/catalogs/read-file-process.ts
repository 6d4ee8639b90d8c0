import { parseCatalogFile } from '../../catalog/load/parse-catalog-file.ts'
import { serveWorkerOrders } from '../../workers/answer-orders.ts'

serveWorkerOrders((bytes: Uint8Array) => parseCatalogFile(bytes))
