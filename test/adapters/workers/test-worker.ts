// A worker script for tests of its callers, with jobs that return, wait, fail, or end the process.
import { appendFileSync, readFileSync } from 'node:fs'
import { serveWorkerRequests } from '../../../src/adapters/workers/answer-orders.ts'

export type TestWorkerJob =
  | { readonly kind: 'return'; readonly value: unknown }
  | { readonly kind: 'pid' }
  /** Calls the parent process, and waits for the response. */
  | { readonly kind: 'ask' }
  /** Ends without a call. `ask-late` then calls in the name of this job. */
  | { readonly kind: 'leave-running' }
  | { readonly kind: 'ask-late' }
  | { readonly kind: 'environment' }
  | { readonly kind: 'spin' }
  /** Appends a letter to the file, and kills its process with `signal` until there are more than `times` letters. */
  | { readonly kind: 'die'; readonly signal: NodeJS.Signals; readonly file: string; readonly times: number }
  | { readonly kind: 'exit'; readonly code: number }
  | { readonly kind: 'fill' }
  | { readonly kind: 'throw'; readonly message: string }
  | { readonly kind: 'unsendable' }
  /** Responds when the file exists. */
  | { readonly kind: 'wait'; readonly file: string }

let askLate: ((request: unknown) => Promise<unknown>) | undefined

serveWorkerRequests(async (job: TestWorkerJob, callBack): Promise<unknown> => {
  switch (job.kind) {
    case 'return':
      return job.value
    case 'pid':
      return process.pid
    case 'ask':
      return callBack('anything')
    case 'leave-running':
      askLate = callBack
      return process.pid
    case 'ask-late':
      return askLate?.('anything').catch(String)
    case 'environment':
      return { ...process.env }
    case 'spin':
      for (;;) await Promise.resolve()
    case 'die':
      appendFileSync(job.file, 'x')
      if (readTextFileOrEmpty(job.file).length > job.times) return 'done'
      process.kill(process.pid, job.signal)
      return new Promise(() => {})
    case 'exit':
      process.exit(job.code)
      break
    case 'fill': {
      const allocated: unknown[] = []
      for (;;) allocated.push(Array.from({ length: 1000 }, (_, index) => ({ index })))
    }
    case 'throw':
      throw new Error(job.message)
    case 'unsendable':
      return () => 'a function'
    case 'wait':
      while (readTextFileOrEmpty(job.file) === '') await new Promise((resolve) => setTimeout(resolve, 5))
      return process.pid
  }
})

function readTextFileOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
