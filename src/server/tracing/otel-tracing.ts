// Traces over OTLP/HTTP, set up by OpenTelemetry's variables. Spans contain no untrusted text.
import { AsyncLocalStorage } from 'node:async_hooks'
import { ROOT_CONTEXT, SpanStatusCode, trace, type Context } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import type { Tracing } from '../../ports/tracing.ts'

/** Milliseconds; a hanging collector must not block the shutdown. */
const shutdownTimeoutMs = 3000

export function createOtelTracing(
  environment: Readonly<Record<string, string | undefined>>,
  problem: (error: unknown) => void,
): Tracing {
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': environment['OTEL_SERVICE_NAME'] ?? 'catalog-bot' }),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  })
  const tracer = provider.getTracer('catalog-bot')
  // A local context, because the host process may use the global one.
  const here = new AsyncLocalStorage<Context>()
  return {
    async span(name, attributes, work) {
      const parent = here.getStore() ?? ROOT_CONTEXT
      const span = tracer.startSpan(name, { attributes }, parent)
      try {
        return await here.run(trace.setSpan(parent, span), work)
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR })
        span.setAttribute('error.type', error instanceof Error ? error.name : 'unknown')
        throw error
      } finally {
        span.end()
      }
    },
    async close() {
      const timeout = new Promise<void>((resolve) => setTimeout(resolve, shutdownTimeoutMs).unref())
      await Promise.race([provider.shutdown().catch(problem), timeout])
    },
  }
}
