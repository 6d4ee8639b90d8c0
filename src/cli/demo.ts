// `demo`: exit 0 only when every outcome is as it should be.
import { extname } from 'node:path'
import { setExitCode, print } from './output.ts'

export interface DemoOptions {
  readonly keep?: boolean
  readonly verbose?: boolean
}

export interface DemoRunOptions {
  readonly print: (line: string) => void
  /** Prints the bot's log too. */
  readonly verbose?: boolean | undefined
  /** Called at the end; the demo keeps running until it resolves. */
  readonly keep?: ((addresses: readonly string[]) => Promise<void>) | undefined
  /** Milliseconds for all stories, once the bot listens. */
  readonly timeoutMs?: number
}

/** True when every pull request ended as expected. */
export type RunDemo = (telling: DemoRunOptions) => Promise<boolean>

/**
 * The sandbox is no part of what serves, so its demo is found when it is wanted, not imported: in a checkout as its
 * source, in the published package as the one script that scripts/build.ts makes of it.
 */
const demoScriptPath =
  extname(import.meta.url) === '.ts' ? '../../sandbox/demo/run-demo.ts' : '../demo/run-demo.js'

export async function runDemoCommand({ keep, verbose }: DemoOptions): Promise<void> {
  const { runDemo } = (await import(new URL(demoScriptPath, import.meta.url).href)) as {
    readonly runDemo: RunDemo
  }
  const good = await runDemo({
    print,
    verbose,
    ...(keep === true && {
      keep: async (addresses: readonly string[]) => {
        print(['', 'The demo keeps running. Press Ctrl-C to stop it:', ...addresses].join('\n'))
        await new Promise<void>((resolve) => process.once('SIGINT', resolve))
      },
    }),
  })
  setExitCode(good ? 0 : 1)
}
