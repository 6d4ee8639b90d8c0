// `demo`: exit 0 only when every outcome is as it should be.
import { extname } from 'node:path'
import { exitWith, print } from './output.ts'

export interface DemoOptions {
  readonly keep?: boolean
  readonly verbose?: boolean
}

export interface DemoTelling {
  readonly say: (line: string) => void
  /** Prints the bot's log too. */
  readonly verbose?: boolean | undefined
  /** Called at the end; the demo keeps running until it resolves. */
  readonly keep?: ((addresses: readonly string[]) => Promise<void>) | undefined
  /** Milliseconds for all stories, once the bot listens. */
  readonly patience?: number
}

/** True when every pull request ended as expected. */
export type RunDemo = (telling: DemoTelling) => Promise<boolean>

/**
 * The sandbox is no part of what serves, so its demo is found when it is wanted, not imported: in a checkout as its
 * source, in the published package as the one script that scripts/build.ts makes of it.
 */
const script = extname(import.meta.url) === '.ts' ? '../../sandbox/demo/run-demo.ts' : '../demo/run-demo.js'

export async function demo({ keep, verbose }: DemoOptions): Promise<void> {
  const { runDemo } = (await import(new URL(script, import.meta.url).href)) as { readonly runDemo: RunDemo }
  const good = await runDemo({
    say: print,
    verbose,
    ...(keep === true && {
      keep: async (addresses: readonly string[]) => {
        print(['', 'The demo keeps running. Press Ctrl-C to stop it:', ...addresses].join('\n'))
        await new Promise<void>((resolve) => process.once('SIGINT', resolve))
      },
    }),
  })
  exitWith(good ? 0 : 1)
}
