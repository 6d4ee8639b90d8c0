// The process of launcher.ts. Ends with the one that gives it orders; what it started then runs to its end, as it does where
// nobody stands in between.
import { runProcess, type Ended, type ProcessOrder } from './run-process.ts'

/** Without an order: what has this number is to be stopped. */
export interface LauncherRequest {
  readonly id: number
  readonly order?: ProcessOrder
}

export type LauncherReply = { readonly id: number } & (
  | { readonly ended: Ended }
  | { readonly failed: { readonly code: string | undefined; readonly message: string } }
)

const running = new Map<number, AbortController>()

process.on('message', ({ id, order }: LauncherRequest) => {
  if (order === undefined) {
    running.get(id)?.abort()
    return
  }
  const controller = new AbortController()
  running.set(id, controller)
  const reply = (said: LauncherReply) => {
    running.delete(id)
    if (process.connected) process.send?.(said, () => undefined)
  }
  runProcess(order, controller.signal).then(
    (ended) => reply({ id, ended }),
    ({ code, message }: NodeJS.ErrnoException) => reply({ id, failed: { code, message } }),
  )
})
// Whoever stops a group means the one that gives orders: it may still have some.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => undefined)
