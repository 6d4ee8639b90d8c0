import { parseCatalogFile } from '../../catalog/load/parse-catalog-file.ts'
import { answerOrders } from '../../workers/answer-orders.ts'

answerOrders((bytes: Uint8Array) => parseCatalogFile(bytes))
