// A real Chromium, headless, for what people see. Debian's own; where there is none, what needs it is left out and counted.
import { chromium, type Browser } from 'playwright-core'
import { isOnPath } from './is-on-path.ts'

export const hasBrowser = isOnPath('chromium')

/** Without a sandbox of its own: tests run as root in CI, and open nothing but what they made. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  })
}
