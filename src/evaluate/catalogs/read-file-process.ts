import { parseCatalogFile } from '../../catalog/load/read-file.ts'
import { answerOrders } from '../../workers/answer-orders.ts'

answerOrders((bytes: Uint8Array) => parseCatalogFile(bytes))
