// Made by generate.mjs from the OpenAPI document. Do not edit it; run `make client`.

export interface paths {
    "/v1/recall": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Recall
         * @description Search everything remembered (notes, entities, past messages) by meaning, words and time, best first. Use it before you answer anything that may depend on earlier conversations: people, preferences, decisions, plans, what was said and when. Needs the right to read.
         */
        post: operations["recall"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/context": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Context
         * @description Get relevant memories, dated and sourced, at the start of a conversation or task. Requires a `query`, or the last `messages`. Needs the right to read.
         */
        post: operations["context"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Explain a ranking
         * @description Explain the ranking of a query: every step of each memory's score. Needs the right to read.
         */
        post: operations["explain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/why-not": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Why not
         * @description Explain why a query did not find a memory, and what would help. Requires its `id`, or a `name`. Needs the right to read.
         */
        post: operations["why_not"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/feedback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Feedback
         * @description Say whether memories that `recall` or `search_semantic` showed helped to answer, so that ranking can learn from it. Use it when one was just what was needed, or plainly beside the point. Requires `ids` or `names`. Needs the right to write.
         */
        post: operations["feedback"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List memories
         * @description List what is remembered, the newest first, page by page. To find something, ask `recall`. Needs the right to read.
         */
        get: operations["list_memories"];
        put?: never;
        /**
         * Remember
         * @description Save a fact, preference, decision, plan or event in one self-contained sentence that names who and what, whenever you learn something that will matter later. To correct a memory, pass its id as `supersedes`. Needs the right to write.
         */
        post: operations["remember"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a memory
         * @description Get a memory with all its details: every field, its versions, what it supersedes and is superseded by, the entities that it names, the turns around it, near copies, conflicts, and the last answers that showed it. Nothing is recorded. Needs the right to read.
         */
        get: operations["get_memory"];
        put?: never;
        post?: never;
        /**
         * Forget
         * @description Forget memories when the user asks for it. Requires `ids`, or a `query`, which only shows what it would forget. If a fact has changed, use `remember` with `supersedes` instead. Needs the right to write.
         */
        delete: operations["forget"];
        options?: never;
        head?: never;
        /**
         * Update
         * @description Change the given fields of a memory; a former text stays as history. If a fact is no longer true, use `remember` with `supersedes` instead. Needs the right to write.
         */
        patch: operations["update"];
        trace?: never;
    };
    "/v1/memories/forget": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Forget
         * @description Forget memories when the user asks for it. Requires `ids`, or a `query`, which only shows what it would forget. If a fact has changed, use `remember` with `supersedes` instead. Needs the right to write.
         */
        post: operations["forget_many"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Remember many
         * @description Save many notes at once: all of them, or none, unless `keep_going`. Needs the right to write.
         */
        post: operations["remember_many"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories/{id}/superseded-by": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Supersede
         * @description Retire a note or message in favour of another one, or of a new note. `restore` undoes it. Needs the right to write.
         */
        post: operations["supersede_by"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories/{id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * History
         * @description List the changes of a memory: former texts, corrections and their times. Needs the right to read.
         */
        get: operations["history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/browse": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Browse
         * @description List memories of any kind, filtered and sorted, page by page. Needs the right to read.
         */
        get: operations["browse"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/timeline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Timeline
         * @description Count memories by day, week or month. To list those of one period, use `browse` with `since`, `until` and the same `time`. Needs the right to read.
         */
        get: operations["timeline"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tags": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List tags
         * @description List tags with their number of memories in force, the most frequent first. Needs the right to read.
         */
        get: operations["list_tags"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/categories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List categories
         * @description List categories with their number of memories in force, the most frequent first. Needs the right to read.
         */
        get: operations["list_categories"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories/{id}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restore
         * @description Bring back a memory that was forgotten or superseded. Needs the right to write. It takes no `Idempotency-Key`.
         */
        post: operations["restore"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories/{id}/supersede": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Remember
         * @description Save a fact, preference, decision, plan or event in one self-contained sentence that names who and what, whenever you learn something that will matter later. To correct a memory, pass its id as `supersedes`. Needs the right to write.
         */
        post: operations["supersede"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Messages of a session
         * @description List the messages of a conversation in order, or from its end. Needs the right to read.
         */
        get: operations["session_messages"];
        put?: never;
        /**
         * Save messages
         * @description Save raw turns of a conversation, in order, under the name of a session. For single facts use `remember`. Needs the right to write.
         */
        post: operations["add_messages"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Clear a session
         * @description Forget a whole conversation and the notes extracted from it, when the user asks for it. Needs the right to write. It takes no `Idempotency-Key`.
         */
        delete: operations["clear_session"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List sessions
         * @description List conversations with their number of turns, the most recently active first. Needs the right to read.
         */
        get: operations["list_sessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/reflections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add a reflection
         * @description Save a thought about how things went or what to do better: yours or the user's, apart from facts. The entities, conversation or relation that it is about must exist. Needs the right to write. It takes no `Idempotency-Key`.
         */
        post: operations["add_reflection"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/reflections/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Search reflections
         * @description Find earlier reflections by meaning, before you repeat a mistake. Needs the right to read.
         */
        post: operations["search_reflections"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Search nodes
         * @description Find entities by words in their name, type or observations. For questions use `recall`. Needs the right to read.
         */
        get: operations["search_nodes"];
        put?: never;
        /**
         * Create entities
         * @description Save people, projects, places and other things worth knowing again. One that exists keeps its type and status, and gains the new observations. Needs the right to write.
         */
        post: operations["create_entities"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entities/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Search by meaning
         * @description Find entities by meaning, ranked by similarity, by how often and how recently they were used, and by what is often found together with them. Needs the right to read.
         */
        post: operations["search_semantic"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entities/list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List entities
         * @description List entities with their numbers of observations, relations and mentions. Needs the right to read.
         */
        get: operations["list_entities"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entities/open": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Open nodes
         * @description Read entities by name, with their observations (of these kinds) and relations. Needs the right to read.
         */
        post: operations["open_nodes"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entities/delete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Delete entities
         * @description Forget entities and their relations, by exact name, if they should never have been saved. It can be undone. Needs the right to write.
         */
        post: operations["delete_entities"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entities/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Open nodes
         * @description Read entities by name, with their observations (of these kinds) and relations. Needs the right to read.
         */
        get: operations["open_entity"];
        put?: never;
        post?: never;
        /**
         * Delete entities
         * @description Forget entities and their relations, by exact name, if they should never have been saved. It can be undone. Needs the right to write.
         */
        delete: operations["delete_entity"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entities/{name}/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set a status
         * @description Mark an entity as active, paused, completed or archived. Entities that are not active rank lower. Needs the right to write.
         */
        put: operations["set_status"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entities/{name}/neighbours": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Neighbours
         * @description List the entities within `depth` relations of one, the nearest first. Read them with `open_nodes`. Needs the right to read.
         */
        get: operations["neighbours"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/observations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add observations
         * @description Add facts to entities that exist, one short statement each: text, or an object with a `kind` (any word, such as fact, decision or metadata) and what it `supersedes`, which stays as history. Needs the right to write.
         */
        post: operations["add_observations"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/observations/delete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Delete observations
         * @description Remove observations by their exact text. Needs the right to write.
         */
        post: operations["delete_observations"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/relations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create relations
         * @description Connect entities: who works where, what belongs to what; in active voice, such as works_at. An entity that does not exist is created with the type 'unknown'. Needs the right to write.
         */
        post: operations["create_relations"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/relations/end": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End a relation
         * @description End a relation that no longer holds, as when someone leaves a job. It stays as history. Needs the right to write. It takes no `Idempotency-Key`.
         */
        post: operations["end_relation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/relations/delete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Delete relations
         * @description Remove relations that were never true. If one has ended, use `end_relation` where it is offered. Needs the right to write.
         */
        post: operations["delete_relations"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/graph": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the graph
         * @description Read the whole graph, page by page. Ask `recall` or `search_nodes` first. Needs the right to read.
         */
        get: operations["read_graph"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/graph/paths": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Find paths
         * @description Find how two entities are connected: chains of relations between them, the shortest first. Needs the right to read.
         */
        get: operations["find_paths"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/dreams": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List dreams
         * @description List dreams, the newest first, with their counts and the result of their gate. Needs the right to read.
         */
        get: operations["list_dreams"];
        put?: never;
        /**
         * Dream
         * @description Consolidate the memory: strengthen what was used, let the rest fade, merge repeats, retire copies of corrected errors. Use it only when the user asks, or after a long stretch of work; try `dry_run` first. Nothing is lost: a dream is tested on past questions first, and can be undone. Needs the right to write. It takes no `Idempotency-Key`.
         */
        post: operations["dream"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/dreams/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Preview a dream
         * @description Preview everything that a dream would do now: memories that grow stronger, fade, or are merged, corrected, pruned or linked, and how well past questions would be answered. Nothing is written. Needs the right to write.
         */
        post: operations["preview_dream"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/dreams/{id}/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Undo a dream
         * @description Undo the changes of a dream. Memories that were changed since stay as they are. Needs the right to write. It takes no `Idempotency-Key`.
         */
        post: operations["undo_dream"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/dreams/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a dream
         * @description Get a dream with every change that it made, before and after, page by page. Needs the right to read.
         */
        get: operations["get_dream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/settle/{kind}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List review items
         * @description List items of one kind for a person to decide. The kinds are contradictions (among the newest texts), notes and observations that nearly repeat another, entities to split, and unused entities. Needs the right to read.
         */
        get: operations["to_settle"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/settle": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Settle
         * @description Decide one item of `to_settle`. `supersede_older` retires the older text; `keep` keeps both and dismisses the item. The answer's `undo` reverses it. Needs the right to write. It takes no `Idempotency-Key`.
         */
        post: operations["settle"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/settle/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Undo a decision
         * @description Undo a decision of `settle`, with the `undo` that it returned. Needs the right to write. It takes no `Idempotency-Key`.
         */
        post: operations["undo_settling"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/answers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List answers
         * @description List logged answers, the newest first: the question, the memories shown, the rankings of the profile and its baseline, and the feedback. Needs the right to read.
         */
        get: operations["list_answers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/answers/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an answer
         * @description Get a logged answer, with the rank of each memory by the profile and by its baseline. Needs the right to read.
         */
        get: operations["get_answer"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/answers/{id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Replay an answer
         * @description Repeat a logged question, and compare ranks then and now, by the profile and by its baseline. Nothing is recorded. Needs the right to read.
         */
        get: operations["replay_answer"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/answers/empty": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Empty the log
         * @description Empty the log of answers, with all questions. This cannot be undone. Needs the right to admin.
         */
        post: operations["empty_log"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/quality/self-test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Self-test
         * @description Search for memories by their own words, names and days. Report how many each profile finds, which ones it misses and why. Nothing is written. Needs the right to read.
         */
        post: operations["self_test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/quality/confidence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Confidence curve
         * @description Measure how reliable the confidence of hits is on this memory: stated against actual accuracy. Needs the right to read.
         */
        get: operations["confidence_curve"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tuning": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Tuning state
         * @description Get every profile's numbers, published and current, and the state of the log. Needs the right to read.
         */
        get: operations["tuning_state"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tuning/analysis": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Analyze tuning
         * @description Compare a profile with its baseline on the log. Needs the right to read.
         */
        get: operations["analyze_tuning"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tuning/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Tuning history
         * @description List all versions of a profile's numbers, the newest first. Needs the right to read.
         */
        get: operations["tuning_history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tuning/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run tuning
         * @description Find better numbers with the log of answers, and move towards them if they are significantly better. Unless `dry_run` is false, it only reports what it would do. Needs the right to admin. It takes no `Idempotency-Key`.
         */
        post: operations["run_tuning"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tuning/set": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Set numbers
         * @description Move numbers of a profile a tenth of the way towards these, or set them exactly. Needs the right to admin. It takes no `Idempotency-Key`.
         */
        post: operations["set_numbers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tuning/reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reset numbers
         * @description Reset a profile to its published numbers. `rollback_tuning` undoes it. Needs the right to admin.
         */
        post: operations["reset_numbers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tuning/rollback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Roll tuning back
         * @description Restore the numbers of a version of `tuning_history`. Needs the right to admin. It takes no `Idempotency-Key`.
         */
        post: operations["rollback_tuning"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Statistics
         * @description Count what the memory contains, its size, and the texts that have no vector yet. Needs the right to read.
         */
        get: operations["stats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upkeep/report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Consolidation report
         * @description List what needs attention: contradictions, entities to split, near-duplicates, and stale or oversized entities. Needs the right to read.
         */
        get: operations["consolidation_report"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upkeep/duplicates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Find duplicate observations
         * @description Find pairs of observations of one entity that nearly repeat each other, to be merged or removed. Needs the right to read.
         */
        get: operations["find_duplicate_observations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upkeep/splits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Find split candidates
         * @description Find entities that are too large and cover several topics. Needs the right to read.
         */
        get: operations["find_split_candidates"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entities/{name}/split": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Analyze a split
         * @description Tell whether an entity should be split, and into which topics. Needs the right to read.
         */
        get: operations["analyze_entity_split"];
        put?: never;
        /**
         * Execute a split
         * @description Split an entity as proposed, or as you changed the proposal: all at once or not at all. To reverse it, pass the answer's `undo` to `undo_entity_split`. Needs the right to write. It takes no `Idempotency-Key`.
         */
        post: operations["execute_entity_split"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entities/{name}/split/proposal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Propose a split
         * @description Propose new entities for the topics of a large one, with the observations that would move. Needs the right to read.
         */
        get: operations["propose_entity_split"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upkeep/splits/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Undo a split
         * @description Join a split entity again, with the `undo` that the split returned. Needs the right to write. It takes no `Idempotency-Key`.
         */
        post: operations["undo_entity_split"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upkeep/doctor": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Doctor
         * @description Check the whole store. Each problem comes with advice. Needs the right to admin and a token that is bound to no owner.
         */
        get: operations["doctor"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upkeep/store": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * State of the store
         * @description Get the size of the whole store, its model, texts without vectors, open processes and backups. Needs the right to admin and a token that is bound to no owner.
         */
        get: operations["store_state"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upkeep/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Verify
         * @description List all damage to the store. It changes nothing; to repair it, run `recollect doctor --repair`. Needs the right to admin and a token that is bound to no owner.
         */
        post: operations["verify"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upkeep/backup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Back up
         * @description Copy the store into the folder of backups beside it. Reads and writes continue. Needs the right to admin and a token that is bound to no owner. It takes no `Idempotency-Key`.
         */
        post: operations["backup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upkeep/reindex": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reindex
         * @description Embed texts that have no vector yet, or all texts with another model. Searches continue. Needs the right to admin and a token that is bound to no owner.
         */
        post: operations["reindex"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upkeep/purge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Purge
         * @description Destroy forgotten memories. This cannot be undone. Needs the right to admin. It takes no `Idempotency-Key`.
         */
        post: operations["purge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upkeep/purge-forgotten": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Purge all that was forgotten
         * @description Destroy all memories, of every owner, that were forgotten before a time. This cannot be undone. Needs the right to admin and a token that is bound to no owner. It takes no `Idempotency-Key`.
         */
        post: operations["purge_forgotten"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upkeep/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import
         * @description Import the official memory server's JSONL or a full export of Recollect, as `recollect import` does. A full export goes to the owners that it names. Importing the same lines again changes nothing. Needs the right to admin and a token that is bound to no owner.
         */
        post: operations["import_text"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upkeep/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export
         * @description Export this owner's memory, page by page, in a form that `import_text` accepts. `full` is everything, including forgotten memories and what was learnt from use. `official` is the graph in the format of the official memory server. Memories written during an export may be on a later page. Needs the right to read.
         */
        get: operations["export"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upkeep/migrate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Migrate
         * @description Import the JSONL file of the official memory server. Importing it again changes nothing. Needs the right to admin and a token that is bound to no owner.
         */
        post: operations["migrate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/server/latencies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Latencies
         * @description List how long the calls of this server took, minute by minute over the last day, the newest first. Minutes without calls are left out. Needs the right to read.
         */
        get: operations["latencies"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List tokens
         * @description List the access tokens for HTTP by name. The tokens themselves are not stored. Needs the right to admin and a token that is bound to no owner.
         */
        get: operations["list_tokens"];
        put?: never;
        /**
         * Create a token
         * @description Create an access token for HTTP. The answer is the only place where the token is shown. Needs the right to admin and a token that is bound to no owner. It takes no `Idempotency-Key`.
         */
        post: operations["create_token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tokens/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke a token
         * @description Revoke an access token. Servers reject it within two seconds. Needs the right to admin and a token that is bound to no owner. It takes no `Idempotency-Key`.
         */
        delete: operations["revoke_token"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the process lives */
        get: operations["live"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the store opens and answers */
        get: operations["ready"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Counts and latencies for Prometheus */
        get: operations["metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @example {
         *       "messages": [
         *         {
         *           "role": "user",
         *           "content": "I have moved to Faro."
         *         }
         *       ]
         *     }
         */
        AddMessagesRequest: {
            messages: components["schemas"]["MessageRow"][];
            /** @description Also extract notes from them; true if not given */
            extract?: boolean | null;
            /** @description Leave out the rows that cannot be stored, and name them in `rejected`; otherwise one such row stops them all */
            keep_going?: boolean | null;
        };
        /**
         * @example {
         *       "observations": [
         *         {
         *           "entityName": "Ines",
         *           "contents": [
         *             "Drinks oolong"
         *           ]
         *         }
         *       ]
         *     }
         */
        AddObservationsRequest: {
            observations: components["schemas"]["AdditionRow"][];
            /** @description Leave out the rows that cannot be stored, and name them in `rejected`; otherwise one such row stops them all */
            keep_going?: boolean | null;
        };
        /**
         * @example {
         *       "content": "Ask for the date before booking",
         *       "mood": "insight"
         *     }
         */
        AddReflectionRequest: {
            content: string;
            /** @description Names of the entities it is about */
            about?: string[] | null;
            /** @description Author of the reflection */
            author?: string | null;
            /** @description Such as frustration, satisfaction, curiosity, doubt, insight */
            mood?: string | null;
            /** @description The conversation that it is about */
            session?: string | null;
            /** @description The relation that it is about */
            relation?: components["schemas"]["RelationKey"] | null;
        };
        AddedObservations: {
            results: components["schemas"]["AddedRow"][];
            note?: string;
            /** @description With `keep_going`: the rows that were left out */
            rejected?: components["schemas"]["RejectedRow"][];
        };
        AddedRow: {
            entityName: string;
            addedObservations: string[];
        };
        AdditionRow: {
            entityName: string;
            contents: (string | components["schemas"]["CorrectionRow"])[];
        };
        Advice: {
            said: string;
            command: string;
        };
        Analysis: {
            profile: string;
            against: string;
            events: number;
            treated: number;
            with_feedback: number;
            by_arm: {
                [key: string]: number;
            };
            bias: components["schemas"]["Bias"];
            overall: components["schemas"]["Compared"] | null;
            arms: {
                [key: string]: components["schemas"]["Compared"];
            };
            other_baselines: number;
            knobs: {
                [key: string]: number;
            };
        };
        AnalysisRow: {
            entity_name: string;
            entity_type: string;
            observation_count: number;
            /** @description Maximum number of observations for this type */
            threshold: number;
            needs_split: boolean;
            split_score: number;
            topics?: components["schemas"]["TopicRow"][];
        };
        AnalyzedSplit: {
            analysis: components["schemas"]["AnalysisRow"];
            /** @description Pass it to get the next page; absent at the end */
            cursor?: string;
            /** @description Omitted parts, and how to get them */
            note?: string;
        };
        AnswerDetail: {
            answer: components["schemas"]["LoggedAnswer"];
            memories: components["schemas"]["RankedMemory"][];
            /** @description For a replay: whether the profile's ranking is unchanged */
            same?: boolean;
        };
        AnswerFeedback: {
            id: number;
            /** @description opened, recalled, or said: given explicitly */
            kind: string;
            /** @description From -1 (wrong) to 1 (helpful) */
            grade: number;
        };
        AnswerLogStatus: {
            on: boolean;
            design: string;
            against: string;
            share: number;
            seed: string;
            sizes: components["schemas"]["LogSize"][];
            unreadable: number;
        };
        AnswerPage: {
            answers: components["schemas"]["LoggedAnswer"][];
            /** @description Pass it to get the next page; absent at the end */
            cursor?: string;
            /** @description Omitted parts, and how to get them */
            note?: string;
        };
        BackupFile: {
            name: string;
            bytes: number;
            at: string;
        };
        BackupRequest: Record<string, never>;
        BadLine: {
            line: number;
            reason: string;
        };
        Bias: {
            eta: number;
            spread: number;
            pairs: number;
        };
        Branch: {
            name: string;
            rank: number | null;
            score: number | null;
            taken: number;
            reached: boolean;
        };
        BrowsePage: {
            memories: components["schemas"]["Memory"][];
            /** @description Pass it on for what comes after; absent at the end */
            cursor?: string;
            /** @description Parts missing from the list */
            note?: string;
        };
        Bucket: {
            start: string;
            stop: string;
            count: number;
        };
        Candidate: {
            id: number;
            observation: number | null;
            name: string;
            text: string;
            at: string | null;
        };
        /** @enum {string} */
        Cause: "no vector" | "set aside" | "repeated" | "says little" | "crowded out" | "common words" | "language" | "long" | "outranked";
        ClearedSession: {
            session: string;
            /** @description Messages, and notes extracted from them */
            forgotten: number;
        };
        Compared: {
            ours: components["schemas"]["RankingMeasures"];
            baseline: components["schemas"]["RankingMeasures"];
            gain: number;
        };
        ConfidenceBin: {
            low: number;
            high: number;
            count: number;
            stated: number;
            found: number;
        };
        ConfidenceCurve: {
            /** @enum {string} */
            judged_by: "feedback" | "self-test";
            pairs: number;
            error: number;
            bins: components["schemas"]["ConfidenceBin"][];
        };
        ConflictingMemory: {
            id: number;
            text: string;
            /** @description It is newer, so it is probably the valid one */
            is_newer: boolean;
            at?: string;
        };
        /** @enum {string} */
        Consolidation: "staged" | "consolidated" | "archived";
        /**
         * @example {
         *       "query": "Plan a tea evening for Ines",
         *       "budget_tokens": 600
         *     }
         */
        ContextRequest: {
            query?: string | null;
            messages?: components["schemas"]["MessageRow"][] | null;
            /** @description Include its recent turns */
            session?: string | null;
            /** @description 1000 if not given */
            budget_tokens?: number | null;
        };
        ContextText: {
            text: string;
            memories: number[];
            tokens: number;
            left_out: number;
        };
        CorrectionRow: {
            content: string;
            kind?: string;
            /** @description The exact text that it corrects */
            supersedes?: string;
        };
        Cost: {
            step: string;
            value: number;
            place_without: number;
            places: number;
        };
        Counts: {
            entities: number;
            notes: number;
            messages: number;
            observations: number;
            relations: number;
            forgotten: number;
            passages: number;
            vectors: number;
            due: number;
            scopes: number;
            unnoted: number;
            bytes: number;
            schema: number;
        };
        /**
         * @example {
         *       "entities": [
         *         {
         *           "name": "Ines",
         *           "entityType": "person",
         *           "observations": [
         *             "Keeps bees in Faro"
         *           ]
         *         }
         *       ]
         *     }
         */
        CreateEntitiesRequest: {
            entities: components["schemas"]["NewEntityRow"][];
            /** @description Leave out the rows that cannot be stored, and name them in `rejected`; otherwise one such row stops them all */
            keep_going?: boolean | null;
        };
        /**
         * @example {
         *       "relations": [
         *         {
         *           "from": "Ines",
         *           "to": "Tidebook",
         *           "relationType": "works_at"
         *         }
         *       ]
         *     }
         */
        CreateRelationsRequest: {
            relations: components["schemas"]["NewRelationRow"][];
            /** @description Leave out the rows that cannot be stored, and name them in `rejected`; otherwise one such row stops them all */
            keep_going?: boolean | null;
        };
        CreateTokenRequest: {
            /** @description Up to 64 letters of ASCII, digits, dots, dashes and underscores */
            name: string;
            /** @description "write" if not given */
            right?: ("read" | "write" | "admin") | null;
            /** @description Limit the token to this owner (default: all owners) */
            owner?: string | null;
            /** @description Limit the token to this agent of the owner (default: all agents) */
            agent?: string | null;
        };
        CreatedEntities: {
            entities: components["schemas"]["EntityRow"][];
            note?: string;
            /** @description With `keep_going`: the rows that were left out */
            rejected?: components["schemas"]["RejectedRow"][];
        };
        CreatedRelations: {
            relations: components["schemas"]["RelationRow"][];
            note?: string;
            /** @description With `keep_going`: the rows that were left out */
            rejected?: components["schemas"]["RejectedRow"][];
        };
        CreatedToken: {
            name: string;
            /** @description Shown only once; the store keeps a hash */
            token: string;
        };
        Dangling: {
            line: number;
            source: string;
            type: string;
            target: string;
            reason: string;
        };
        DeleteEntitiesRequest: {
            entityNames: string[];
        };
        DeleteObservationsRequest: {
            deletions: components["schemas"]["DeletionRow"][];
        };
        DeleteRelationsRequest: {
            relations: components["schemas"]["RelationKey"][];
        };
        DeletionRow: {
            entityName: string;
            observations: string[];
        };
        Done: {
            success: boolean;
            message: string;
        };
        DrawnNote: {
            id: number;
            text: string;
        };
        DreamChange: {
            /** @description A field such as strength; or pruned, merged, corrected, link, merged observation and so on */
            what: string;
            /** @description Id of the memory, or of the observation */
            id: number;
            before: string | number | null;
            after: string | number | null;
            /** @description The memory that it was merged into, corrected by or linked to */
            other: number | null;
            text: string;
        };
        DreamDetail: {
            dream: components["schemas"]["PastDream"];
            changes: components["schemas"]["DreamChange"][];
            /** @description Changes on all pages */
            total: number;
            /** @description Pass it to get the next page; absent at the end */
            cursor?: string;
            /** @description Omitted parts, and how to get them */
            note?: string;
        };
        DreamDone: {
            /** @description The dream's number, if anything was written */
            id: number | null;
            memories: number;
            answers: number;
            stronger: number;
            faded: number;
            stabler: number;
            consolidated: number;
            archived: number;
            pruned: number;
            merged: number;
            corrected: number;
            linked: number;
            gate: components["schemas"]["GateSummary"] | null;
        };
        DreamGate: {
            questions: number;
            /** @description How many of them were generated from memories' own words */
            made: number;
            before: number;
            after: number;
            blame: string | null;
            /** @description Memories that were found before, but would not be found after */
            losses: components["schemas"]["Loss"][];
        };
        DreamPage: {
            dreams: components["schemas"]["PastDream"][];
            /** @description Pass it to get the next page; absent at the end */
            cursor?: string;
            /** @description Omitted parts, and how to get them */
            note?: string;
        };
        DreamPreview: {
            memories: number;
            answers: number;
            days: number | null;
            phases: string[];
            stronger: number;
            strongest: components["schemas"]["ValueChange"][];
            faded: number;
            weakest: components["schemas"]["ValueChange"][];
            stabler: number;
            stablest: components["schemas"]["ValueChange"][];
            consolidated: number;
            archived: number;
            revived: number;
            deeper: components["schemas"]["ValueChange"][];
            interleaved: number;
            pruned: number[];
            unique: number;
            merged: number[][];
            merged_observations: number[][];
            corrected: number[][];
            linked: number[][];
            links: number;
            gate: components["schemas"]["Verdict"] | null;
            skipped: string[];
            upkeep: string | null;
            /** @description The full lengths of the lists */
            totals: {
                [key: string]: number;
            };
            /** @description Texts of the memories in the lists, by id */
            texts: {
                [key: string]: string;
            };
            /** @description Texts of the observations in the lists, by id */
            observations: {
                [key: string]: string;
            };
        };
        /**
         * @example {
         *       "dry_run": true
         *     }
         */
        DreamRequest: {
            /** @description Only report what it would do; false if not given */
            dry_run?: boolean | null;
            /** @description Phases to leave out, such as prune or merge */
            without?: string[] | null;
        };
        DroppedCandidate: {
            id: number;
            step: string;
            reason: string;
            score: number;
        };
        DuplicatePage: {
            duplicates: components["schemas"]["DuplicateRow"][];
            /** @description Number of further pairs */
            left_out: number;
            /** @description Pass it to get the next page; absent at the end */
            cursor?: string;
            /** @description Omitted parts, and how to get them */
            note?: string;
        };
        DuplicateRow: {
            entity: string;
            older: string;
            newer: string;
            similarity: number;
            match: string;
        };
        EmptyLogRequest: Record<string, never>;
        /**
         * @example {
         *       "from": "Ines",
         *       "to": "Tidebook",
         *       "relationType": "works_at"
         *     }
         */
        EndRelationRequest: {
            from: string;
            to: string;
            relationType: string;
            at?: string | null;
        };
        EntityPage: {
            entities: components["schemas"]["EntitySummary"][];
            /** @description Pass it to get the next page; absent at the end */
            cursor?: string;
            /** @description Omitted parts, and how to get them */
            note?: string;
        };
        EntityRow: {
            name: string;
            entityType: string;
            /** @description The text of each, or an object where it has a kind or was corrected */
            observations: (string | components["schemas"]["ObservationRow"])[];
            /** @description Only if it is not active */
            status?: string;
        };
        EntitySummary: {
            id: number;
            name: string;
            type: string;
            status: string;
            observations: number;
            relations: number;
            mentions: number;
            created_at: string;
            updated_at: string;
        };
        ExecuteEntitySplitRequest: {
            /** @description The new entities, as proposed or changed */
            approved_splits: components["schemas"]["PartRow"][];
        };
        ExecutedSplit: {
            new_entities: string[];
            moved_observations: number;
            original_observations_remaining: number;
            undo: components["schemas"]["SplitUndo"];
        };
        /**
         * @example {
         *       "query": "What tea does Ines drink?"
         *     }
         */
        ExplainRequest: {
            query: string;
            /** @description recollect (default), limbic, mnemosyne, reverie or cognis; "recollect" if not given */
            profile?: string | null;
            limit?: number | null;
            cursor?: string | null;
            budget_tokens?: number | null;
        };
        ExplainedHit: {
            id: number;
            kind: components["schemas"]["Kind"];
            text: string;
            score: number;
            at: string | null;
            explanation: components["schemas"]["Reason"][];
            name?: string;
            category?: string;
            source?: string;
            session?: string;
            speaker?: string;
            tags?: string[];
            status?: components["schemas"]["Status"];
            superseded_by?: number;
            expires_at?: string;
            confidence?: number;
            /** @description Memories in force that it seems to contradict */
            conflicts_with?: components["schemas"]["ConflictingMemory"][];
            /** @description Its observations before they were corrected */
            superseded?: string[];
        };
        ExplainedPage: {
            profile: string;
            hits: components["schemas"]["ExplainedHit"][];
            left_out: number;
            /** @description Pass it to get the next page; absent at the end */
            cursor?: string;
            /** @description Omitted parts, and how to get them */
            note?: string;
        };
        ExportPage: {
            /** @description Lines of JSON; the lines of all pages in order are the file */
            lines: string[];
            /** @description Pass it to get the next page; absent at the end */
            cursor?: string;
            /** @description Omitted parts, and how to get them */
            note?: string;
        };
        /**
         * @example {
         *       "ids": [
         *         1
         *       ],
         *       "helpful": true,
         *       "query": "What tea does Ines drink?"
         *     }
         */
        FeedbackRequest: {
            /** @description Their ids, as `recall` gives them */
            ids?: number[] | null;
            /** @description Names of entities, as `search_semantic` gives them */
            names?: string[] | null;
            /** @description True: it helped; false: it was wrong or beside the point */
            helpful: boolean;
            /** @description The question they answered; default: the last that showed them */
            query?: string | null;
        };
        FlaggedNoteRow: {
            id: number;
            text: string;
            similar_to: number;
            similar: string;
        };
        FlaggedObservationRow: {
            entity: string;
            observation: string;
            similar: string;
        };
        /**
         * @example {
         *       "query": "old addresses"
         *     }
         */
        ForgetManyRequest: {
            ids?: number[] | null;
            query?: string | null;
        };
        Forgettable: {
            id: number;
            kind: components["schemas"]["Kind"];
            text: string;
        };
        Forgotten: {
            forgotten: number[];
            /** @description The hits of the query; nothing is forgotten yet */
            would_forget?: components["schemas"]["Forgettable"][];
            note?: string;
        };
        FoundShare: {
            asked: number;
            found: number;
            low: number;
            high: number;
            mrr: number;
            recall: number;
        };
        Gain: {
            mean: number;
            low: number;
            high: number;
            p: number;
        };
        GateSummary: {
            questions: number;
            before: number;
            after: number;
            blame: string | null;
        };
        Graded: {
            noted: number[];
        };
        GraphPage: {
            entities: components["schemas"]["EntityRow"][];
            relations: components["schemas"]["RelationRow"][];
            /** @description Pass it to get the next page; absent at the end */
            cursor?: string;
            /** @description Omitted parts, and how to get them */
            note?: string;
        };
        Health: {
            checks: components["schemas"]["HealthCheck"][];
        };
        HealthCheck: {
            check: string;
            /** @enum {string} */
            state: "ok" | "note" | "problem";
            said: string;
            advice: string;
        };
        HistoryEvent: {
            at: string;
            what: string;
            detail: string;
        };
        HistoryPage: {
            id: number;
            events: components["schemas"]["HistoryEvent"][];
            /** @description Pass it to get the next page; absent at the end */
            cursor?: string;
            /** @description Omitted parts, and how to get them */
            note?: string;
        };
        HitRow: {
            id: number;
            kind: components["schemas"]["Kind"];
            text: string;
            score: number;
            at: string | null;
            name?: string;
            category?: string;
            source?: string;
            session?: string;
            speaker?: string;
            tags?: string[];
            status?: components["schemas"]["Status"];
            superseded_by?: number;
            expires_at?: string;
            confidence?: number;
            /** @description Memories in force that it seems to contradict */
            conflicts_with?: components["schemas"]["ConflictingMemory"][];
            /** @description Its observations before they were corrected */
            superseded?: string[];
        };
        ImportPreview: {
            /** @enum {string} */
            format: "official" | "full" | "markdown-export";
            lines: number;
            entities: number;
            observations: number;
            texts: number;
            relations: number;
            forgotten: number;
            learnt: number;
            owners: string[];
            bad_lines: components["schemas"]["BadLine"][];
            bad_count: number;
        };
        ImportTextRequest: {
            /** @description The file's lines, each a JSON object */
            jsonl: string;
            /** @description "auto" if not given */
            format?: ("auto" | "official" | "full") | null;
            /** @description Skip lines that cannot be read, and report them; true if not given */
            keep_going?: boolean | null;
            /** @description Only report what the lines contain; write nothing; false if not given */
            dry_run?: boolean | null;
        };
        ImportedText: {
            /** @enum {string} */
            format: "official" | "full" | "markdown-export";
            lines: number;
            entities_created: number;
            entities_merged: number;
            observations_added: number;
            texts_created: number;
            texts_known: number;
            forgotten: number;
            relations_created: number;
            relations_known: number;
            also_created: string[];
            also_created_count: number;
            types_taken: number;
            types_kept: number;
            dangling: components["schemas"]["Dangling"][];
            dangling_count: number;
            learnt: number;
            learnt_known: number;
            learnt_left: components["schemas"]["BadLine"][];
            learnt_left_count: number;
            bad_lines: components["schemas"]["BadLine"][];
            bad_count: number;
            embedded: number;
            note: string | null;
            model_note: string | null;
            /** @description With `dry_run`, what the lines contain */
            found: components["schemas"]["ImportPreview"] | null;
        };
        /** @enum {string} */
        Kind: "entity" | "note" | "message";
        KindRow: {
            content: string;
            kind?: string;
        };
        LargeRow: {
            name: string;
            observations: number;
            limit: number;
        };
        Latencies: {
            minutes: components["schemas"]["MinuteLatency"][];
            /** @description Pass it to get the next page; absent at the end */
            cursor?: string;
            /** @description Omitted parts, and how to get them */
            note?: string;
        };
        Latency: {
            p50_ms: number;
            p95_ms: number;
        };
        Lease: {
            name: string;
            holder: string;
            until: string;
            holder_is_gone: boolean;
        };
        ListedMemories: {
            memories: components["schemas"]["ListedRow"][];
            /** @description Pass it to get the next page; absent at the end */
            cursor?: string;
            /** @description Omitted parts, and how to get them */
            note?: string;
        };
        ListedRow: {
            id: number;
            kind: components["schemas"]["Kind"];
            text: string;
            at: string | null;
            name?: string;
            category?: string;
            source?: string;
            session?: string;
            speaker?: string;
            tags?: string[];
            status?: components["schemas"]["Status"];
            superseded_by?: number;
            expires_at?: string;
        };
        LogEmptied: {
            /** @description Number of answers that were deleted */
            answers: number;
        };
        LogSize: {
            events: number;
            treated: number;
            judged: number;
            profile: string;
        };
        LoggedAnswer: {
            id: number;
            at: string;
            /** @description Pass it to `feedback` */
            event: string;
            session: string;
            query: string;
            profile: string;
            /** @description Version of the tuned numbers; 0: the published ones */
            version: number;
            /**
             * @description ours: the profile's ranking was shown; baseline: the baseline's
             * @enum {string}
             */
            arm: "ours" | "baseline" | "interleaved";
            against: string;
            shown: number[];
            /** @description Ids in the profile's order */
            ranked: number[];
            /** @description Ids in the baseline's order */
            baseline: number[];
            feedback: components["schemas"]["AnswerFeedback"][];
        };
        Loss: {
            query: string;
            memory: number;
            text: string;
            phase: string;
        };
        LostHit: {
            query: string;
            memory: number;
            phase: components["schemas"]["Phase"];
        };
        Memory: {
            id: number;
            kind: components["schemas"]["Kind"];
            owner: string;
            agent: string | null;
            created_at: string;
            updated_at: string;
            happened_at: string | null;
            name: string;
            type: string;
            observations: components["schemas"]["Observation"][];
            text: string;
            category: string | null;
            source: string | null;
            session: string | null;
            position: number | null;
            role: string | null;
            speaker: string | null;
            undated: boolean;
            drawn_from: number | null;
            tags: string[];
            similar_to: number | null;
            similarity: number | null;
            status: components["schemas"]["Status"];
            consolidation: components["schemas"]["Consolidation"];
            strength: number;
            depth: number;
            spread: number;
            stability: number;
            importance: number;
            importance_tag: string | null;
            pinned: boolean;
            revisions: number;
            duplicates: number;
            superseded_by: number | null;
            superseded_at: string | null;
            deleted_at: string | null;
            expires_at: string | null;
        };
        MemoryId: {
            id: number;
        };
        MemoryLink: {
            memory: components["schemas"]["Memory"];
            answers: number;
        };
        MemoryVersion: {
            text: string;
            since: string;
            until: string | null;
        };
        MessagePage: {
            session: string;
            messages: components["schemas"]["Memory"][];
            /** @description Pass it to get the next page; absent at the end */
            cursor?: string;
            /** @description Omitted parts, and how to get them */
            note?: string;
        };
        MessageRow: {
            role?: string;
            speaker?: string;
            content: string;
            /**
             * Format: date-time
             * @description ISO 8601
             */
            at?: string;
        };
        MigrateRequest: {
            /** @description A file on the server's machine */
            source_path: string;
        };
        Migrated: {
            /** @description Created */
            entities: number;
            /** @description Added */
            observations: number;
            /** @description Created */
            relations: number;
            /** @description Entities that were there already */
            known: number;
            /** @description The numbers of the first unreadable lines */
            bad_lines: number[];
            note?: string;
        };
        MinuteLatency: {
            /** @description When it began */
            minute: string;
            operation: string;
            calls: number;
            /** @description Seconds */
            median: number;
            /** @description Seconds */
            p95: number;
        };
        MissedMemory: {
            id: number;
            kind: components["schemas"]["Kind"];
            text: string;
            query: string;
            first: number | null;
            first_text: string;
            place: number | null;
            cause: components["schemas"]["Cause"];
            why: string;
        };
        Model: {
            name: string;
            dims: number;
        };
        MovedFeedback: {
            query: string;
            event: number;
            memory: number;
            grade: number;
            before: number;
            after: number;
        };
        NameCount: {
            name: string;
            count: number;
        };
        NamePage: {
            names: components["schemas"]["NameCount"][];
            /** @description Names on all pages */
            total: number;
            /** @description Pass it to get the next page; absent at the end */
            cursor?: string;
            /** @description Omitted parts, and how to get them */
            note?: string;
        };
        NamedToken: {
            name: string;
            right: string;
            /** @description The only scope that its holder sees; null: every scope */
            sees: components["schemas"]["Scope"] | null;
            created_at: string;
            /** @description Its last use, to within a few minutes */
            used_at: string | null;
        };
        Neighbour: {
            name: string;
            entityType: string;
            /** @description Number of relations between the two */
            distance: number;
        };
        NeighbourPage: {
            neighbours: components["schemas"]["Neighbour"][];
            /** @description Pass it to get the next page; absent at the end */
            cursor?: string;
            /** @description Omitted parts, and how to get them */
            note?: string;
        };
        NewEntityRow: {
            name: string;
            entityType: string;
            /** @description One fact each */
            observations: (string | components["schemas"]["KindRow"])[];
            /** @description active, paused, completed or archived */
            status?: string;
        };
        NewNoteRow: {
            text: string;
            category?: string;
            importance?: number;
            /**
             * Format: date-time
             * @description ISO 8601
             */
            happened_at?: string;
            /** Format: date-time */
            expires_at?: string;
            tags?: string[];
            about?: string[];
            source?: string;
        };
        NewRelationRow: {
            from: string;
            to: string;
            relationType: string;
            context?: string;
            /** Format: date-time */
            since?: string;
            /** Format: date-time */
            until?: string;
        };
        NoteWritten: {
            id: number;
            /** @description False: it existed, and its count was raised */
            created: boolean;
            mentions: string[];
            similar?: components["schemas"]["SimilarMemory"];
            /** @description Advice on a better model for the text's language */
            note?: string;
            /** @description Notes in force that it seems to contradict */
            contradicts?: components["schemas"]["ConflictingMemory"][];
            retired?: number[];
        };
        Observation: {
            id: number;
            content: string;
            kind: string;
            created_at: string;
            happened_at: string | null;
            superseded_by: number | null;
            superseded_at: string | null;
            similar_to: number | null;
            similarity: number | null;
            corrected_by: number | null;
            deleted_at: string | null;
        };
        ObservationRow: {
            content: string;
            kind?: string;
            /** @description When it was corrected */
            superseded_at?: string;
        };
        OpenContradiction: {
            older: number;
            older_text: string;
            newer: number;
            newer_text: string;
            /** @description The command that retires the older one */
            command: string;
        };
        /**
         * @example {
         *       "names": [
         *         "Ines"
         *       ]
         *     }
         */
        OpenNodesRequest: {
            names: string[];
            kinds?: string[] | null;
            /** @description false if not given */
            include_superseded?: boolean | null;
            limit?: number | null;
            cursor?: string | null;
            budget_tokens?: number | null;
        };
        PartRow: {
            /** @description The new entity's name */
            name: string;
            /** @description Its type; that of the original if not given */
            entity_type?: string;
            /** @description The exact texts to move */
            observations: string[];
        };
        PastDream: {
            id: number;
            at: string;
            undone_at: string | null;
            phases: string[];
            skipped: string[];
            revived: number;
            memories: number;
            answers: number;
            stronger: number;
            faded: number;
            stabler: number;
            consolidated: number;
            archived: number;
            pruned: number;
            merged: number;
            corrected: number;
            linked: number;
            gate: components["schemas"]["DreamGate"] | null;
        };
        Path: {
            length: number;
            relations: components["schemas"]["RelationRow"][];
        };
        PathPage: {
            paths: components["schemas"]["Path"][];
            /** @description Pass it to get the next page; absent at the end */
            cursor?: string;
            /** @description Omitted parts, and how to get them */
            note?: string;
        };
        /** @enum {string} */
        Phase: "consolidate" | "downscale" | "merge" | "correct" | "prune" | "place" | "promote" | "link" | "report";
        PreviewDreamRequest: {
            /** @description Phases to leave out, such as prune or merge */
            without?: string[] | null;
            /** @description Rows of each list; 50 if not given */
            limit?: number | null;
        };
        /**
         * @description Problem details, RFC 9457
         * @example {
         *       "type": "urn:recollect:problem:not-found",
         *       "title": "Not found",
         *       "status": 404,
         *       "detail": "There is no memory 7. `recall` shows ids after #."
         *     }
         */
        Problem: {
            /** @description A URN that names the kind of problem */
            type: string;
            title: string;
            status: number;
            /** @description What went wrong, and what to do next */
            detail: string;
            /** @description What is wrong with single arguments */
            errors?: {
                detail: string;
                /** @description Where, as a JSON pointer */
                pointer?: string;
            }[];
            /** @description Of a request that was refused at the door: its kind */
            error?: string;
            /** @description Of such a request: the same as `detail` */
            message?: string;
        };
        ProfileComparison: {
            name: string;
            better: number;
            worse: number;
            p: number;
            is_better: boolean;
        };
        ProfileNumbers: {
            profile: string;
            version: number;
            published: {
                [key: string]: number;
            };
            tuned: {
                [key: string]: number;
            };
            note: string | null;
        };
        ProfileResult: {
            name: string;
            overall: components["schemas"]["FoundShare"];
            by_kind: {
                [key: string]: components["schemas"]["FoundShare"];
            };
        };
        Proposal: {
            /** @enum {string} */
            verdict: "too few" | "no gain" | "proposed";
            says: string;
            profile: string;
            treated: number;
            train: number;
            test: number;
            points: number;
            bias: components["schemas"]["Bias"];
            now: {
                [key: string]: number;
            };
            best: {
                [key: string]: number;
            };
            eased: {
                [key: string]: number;
            };
            ndcg_now: number;
            ndcg_best: number;
            gain: components["schemas"]["Gain"] | null;
            gain_eased: components["schemas"]["Gain"] | null;
            gain_at_ends: number[] | null;
            better: components["schemas"]["MovedFeedback"][];
            worse: components["schemas"]["MovedFeedback"][];
        };
        ProposedPart: {
            /** @description The new entity's name */
            name: string;
            entity_type: string;
            /** @description The exact texts to move */
            observations: string[];
        };
        ProposedSplit: {
            suggested_splits: components["schemas"]["ProposedPart"][];
            analysis: components["schemas"]["AnalysisRow"];
            /** @description Pass it to get the next page; absent at the end */
            cursor?: string;
            /** @description Omitted parts, and how to get them */
            note?: string;
        };
        PurgeForgottenRequest: {
            /**
             * Format: date-time
             * @description Purge memories that were forgotten before this time
             */
            before: string;
        };
        PurgeRequest: {
            /** @description Forgotten memories of this owner */
            ids: number[];
        };
        Purged: {
            purged: number;
            note?: string;
        };
        RankedMemory: {
            id: number;
            /** @description The current text; empty if it was purged */
            text: string;
            in_force: boolean;
            shown: number | null;
            ranked: number | null;
            baseline: number | null;
            /** @description By the profile, with its current numbers */
            now: number | null;
            baseline_now: number | null;
        };
        RankingMeasures: {
            events: number;
            ndcg_5: number;
            ndcg_10: number;
            lift_5: number;
            lift_10: number;
        };
        Reason: {
            step: string;
            /** @enum {string} */
            effect: "plus" | "times" | "set" | "rescale" | "mix" | "note";
            value: number;
            numbers: number[];
            score: number;
        };
        RecallPage: {
            hits: components["schemas"]["HitRow"][];
            /** @description Hits that did not fit the budget */
            left_out: number;
            /** @enum {string} */
            answer: "likely" | "possible" | "unlikely";
            /** @description Pass it to get the next page; absent at the end */
            cursor?: string;
            /** @description Omitted parts, and how to get them */
            note?: string;
        };
        /**
         * @example {
         *       "query": "What tea does Ines drink?",
         *       "limit": 5
         *     }
         */
        RecallRequest: {
            /** @description What you want to know, as a question */
            query: string;
            kinds?: components["schemas"]["Kind"][] | null;
            tags?: string[] | null;
            /** @description Search the memory as of then; a day: its end */
            as_of?: string | null;
            /** @description Limit messages to this session */
            session?: string | null;
            /** @description false if not given */
            include_superseded?: boolean | null;
            /** @description recollect (default), limbic, mnemosyne, reverie or cognis */
            profile?: string | null;
            min_confidence?: number | null;
            /** @description Default: the relevant ones, at most 10 */
            limit?: number | null;
            cursor?: string | null;
            budget_tokens?: number | null;
        };
        ReflectionHit: {
            id: number;
            kind: components["schemas"]["Kind"];
            text: string;
            score: number;
            at: string | null;
            author: string | null;
            mood: string | null;
            name?: string;
            category?: string;
            source?: string;
            session?: string;
            speaker?: string;
            tags?: string[];
            status?: components["schemas"]["Status"];
            superseded_by?: number;
            expires_at?: string;
            confidence?: number;
            /** @description Memories in force that it seems to contradict */
            conflicts_with?: components["schemas"]["ConflictingMemory"][];
            /** @description Its observations before they were corrected */
            superseded?: string[];
            /** @description The relation that it is about */
            relation?: string;
        };
        ReflectionPage: {
            results: components["schemas"]["ReflectionHit"][];
            left_out: number;
            /** @description Pass it to get the next page; absent at the end */
            cursor?: string;
            /** @description Omitted parts, and how to get them */
            note?: string;
        };
        ReindexRequest: {
            /** @description Model to switch to; all texts are embedded again */
            model?: string | null;
        };
        ReindexResult: {
            model: components["schemas"]["Model"];
            embedded: number;
            switched: boolean;
        };
        RejectedRow: {
            /** @description Its index in the batch, from 0 */
            index: number;
            reason: string;
        };
        Relation: {
            id: number;
            source: number;
            target: number;
            source_name: string;
            target_name: string;
            type: string;
            created_at: string;
            context: string;
            since: string | null;
            until: string | null;
            inverse_of: number | null;
            deleted_at: string | null;
        };
        RelationKey: {
            from: string;
            to: string;
            relationType: string;
        };
        RelationRow: {
            from: string;
            to: string;
            relationType: string;
            context?: string;
            since?: string;
            until?: string;
        };
        RememberManyRequest: {
            notes: components["schemas"]["NewNoteRow"][];
            /** @description Skip notes that cannot be stored, and report them; false if not given */
            keep_going?: boolean | null;
        };
        /**
         * @example {
         *       "text": "Ines drinks oolong in the evening",
         *       "category": "preferences",
         *       "tags": [
         *         "tea"
         *       ]
         *     }
         */
        RememberRequest: {
            text: string;
            /** @description Such as preferences, work_career */
            category?: string | null;
            importance?: number | null;
            happened_at?: string | null;
            tags?: string[] | null;
            /** @description Names of entities that exist */
            about?: string[] | null;
            source?: string | null;
            supersedes?: number | null;
            expires_at?: string | null;
        };
        Remembered: {
            id: number;
            /** @description False: it existed, and its count was raised */
            created: boolean;
            mentions: string[];
            similar?: components["schemas"]["SimilarMemory"];
            /** @description Advice on a better model for the text's language */
            note?: string;
            /** @description Notes in force that it seems to contradict */
            contradicts?: components["schemas"]["ConflictingMemory"][];
        };
        RememberedBatch: {
            notes: components["schemas"]["Remembered"][];
            rejected: components["schemas"]["RejectedRow"][];
            note?: string;
            model_note?: string;
        };
        ReportPage: {
            summary: components["schemas"]["ReportSummary"];
            found: components["schemas"]["SectionCounts"];
            contradictions: components["schemas"]["OpenContradiction"][];
            split_candidates: components["schemas"]["AnalysisRow"][];
            flagged_observations: components["schemas"]["FlaggedObservationRow"][];
            flagged_notes: components["schemas"]["FlaggedNoteRow"][];
            stale_entities: components["schemas"]["StaleRow"][];
            large_entities: components["schemas"]["LargeRow"][];
            /** @description Pass it to get the next page; absent at the end */
            cursor?: string;
            /** @description Omitted parts, and how to get them */
            note?: string;
        };
        ReportSummary: {
            entities: number;
            observations: number;
            notes: number;
        };
        ResetNumbersRequest: {
            profile?: string | null;
            /** @description Only report what it would do; false if not given */
            dry_run?: boolean | null;
        };
        RestoreRequest: Record<string, never>;
        RetiredMemory: {
            id: number;
            text: string;
            observation: number | null;
        };
        ReviewItem: {
            /** @enum {string} */
            kind: "contradiction" | "similar_notes" | "similar_observations" | "split" | "stale";
            older: components["schemas"]["Candidate"];
            newer: components["schemas"]["Candidate"] | null;
            actions: ("supersede_older" | "forget_older" | "forget_newer" | "remove_older" | "remove_newer" | "split" | "archive" | "forget" | "keep")[];
            similarity: number | null;
            detail: string;
            dismissed: boolean;
            key: string;
        };
        ReviewPage: {
            items: components["schemas"]["ReviewItem"][];
            /** @description Pass it to get the next page; absent at the end */
            cursor?: string;
            /** @description Omitted parts, and how to get them */
            note?: string;
        };
        RevokedToken: {
            revoked: string;
        };
        RollbackTuningRequest: {
            /** @description Default: the previous version */
            version?: number | null;
            profile?: string | null;
            /** @description Only report what it would do; false if not given */
            dry_run?: boolean | null;
        };
        RunTuningRequest: {
            profile?: string | null;
            /** @description Only report what it would do; true if not given */
            dry_run?: boolean | null;
        };
        SavedMessages: {
            session: string;
            ids: number[];
            notes: components["schemas"]["DrawnNote"][];
            note?: string;
            /** @description With `keep_going`: the rows that were left out */
            rejected?: components["schemas"]["RejectedRow"][];
        };
        Scope: {
            owner: string;
            agent: string | null;
        };
        Scoring: {
            importance: number;
            temporal_factor: number;
            cooc_boost: number;
        };
        /**
         * @example {
         *       "query": "booking"
         *     }
         */
        SearchReflectionsRequest: {
            query: string;
            author?: string | null;
            mood?: string | null;
            /** @description An entity's name */
            about?: string | null;
            /** @description Only those about this conversation */
            session?: string | null;
            /** @description Only those about this relation */
            relation?: components["schemas"]["RelationKey"] | null;
            limit?: number | null;
            cursor?: string | null;
            budget_tokens?: number | null;
        };
        /**
         * @example {
         *       "query": "beekeepers"
         *     }
         */
        SearchSemanticRequest: {
            query: string;
            limit?: number | null;
            cursor?: string | null;
            budget_tokens?: number | null;
        };
        SectionCounts: {
            contradictions: number;
            split_candidates: number;
            flagged_observations: number;
            flagged_notes: number;
            stale_entities: number;
            large_entities: number;
        };
        SelfTest: {
            seed: number;
            at: string;
            limit: number;
            model: string | null;
            note: string | null;
            memories: number;
            sampled: number;
            questions: {
                [key: string]: number;
            };
            default: string;
            profiles: components["schemas"]["ProfileResult"][];
            compared: components["schemas"]["ProfileComparison"][];
            missed: components["schemas"]["MissedMemory"][];
            advice: components["schemas"]["Advice"][];
            latency: {
                [key: string]: components["schemas"]["Latency"];
            };
        };
        SelfTestRequest: {
            /** @description All if not given */
            profiles?: string[] | null;
            /** @description Number of memories to test; 200 if not given */
            sample?: number | null;
            /** @description How many first hits to look for a memory in; 5 if not given */
            limit?: number | null;
            /** @description A different seed tests different memories; 0 if not given */
            seed?: number | null;
        };
        SemanticHit: {
            name: string;
            entityType: string;
            observations: string[];
            limbic_score: number;
            score: number;
            distance?: number | null;
            scoring?: components["schemas"]["Scoring"];
            routing_strategy?: string | null;
            mode?: string;
            rrf_score?: number;
        };
        SemanticPage: {
            results: components["schemas"]["SemanticHit"][];
            /** @description Pass it to get the next page; absent at the end */
            cursor?: string;
            /** @description Omitted parts, and how to get them */
            note?: string;
        };
        Session: {
            name: string;
            turns: number;
            first_at: string;
            last_at: string;
            speakers: string[];
        };
        SessionPage: {
            sessions: components["schemas"]["Session"][];
            total: number;
            /** @description Pass it to get the next page; absent at the end */
            cursor?: string;
            /** @description Omitted parts, and how to get them */
            note?: string;
        };
        SetNumbersRequest: {
            /** @description By name, as `tuning_state` lists them */
            numbers: {
                [key: string]: number;
            };
            profile?: string | null;
            /** @description Set them exactly, not by a tenth of the way; false if not given */
            exactly?: boolean | null;
            /** @description Only report what it would do; false if not given */
            dry_run?: boolean | null;
        };
        /**
         * @example {
         *       "status": "paused"
         *     }
         */
        SetStatusRequest: {
            /** @description active, paused, completed or archived */
            status: string;
        };
        SettleRequest: {
            key: string;
            /** @enum {string} */
            action: "supersede_older" | "forget_older" | "forget_newer" | "remove_older" | "remove_newer" | "split" | "archive" | "forget" | "keep";
        };
        SettleUndo: {
            key: string;
            /** @enum {string} */
            action: "supersede_older" | "forget_older" | "forget_newer" | "remove_older" | "remove_newer" | "split" | "archive" | "forget" | "keep";
            memories: number[];
            observations: number[];
            /** @description The status of an entity before it was archived */
            status?: string;
            split?: components["schemas"]["SplitUndo"];
        };
        SettleUndoRow: {
            key: string;
            /** @enum {string} */
            action: "supersede_older" | "forget_older" | "forget_newer" | "remove_older" | "remove_newer" | "split" | "archive" | "forget" | "keep";
            memories: number[];
            observations: number[];
            /** @description The former status of an archived entity */
            status?: string;
            split?: components["schemas"]["UndoRow"];
        };
        Settled: {
            /** @description For `undo_settling` */
            undo: components["schemas"]["SettleUndo"];
        };
        Showing: {
            at: string;
            place: number;
            query: string | null;
            profile: string | null;
            answer: number | null;
        };
        SimilarMemory: {
            id: number;
            text: string;
            similarity: number;
        };
        SplitCandidates: {
            candidates: components["schemas"]["AnalysisRow"][];
            /** @description Pass it to get the next page; absent at the end */
            cursor?: string;
            /** @description Omitted parts, and how to get them */
            note?: string;
        };
        SplitUndo: {
            original: number;
            parts: number[];
            observations: number[];
        };
        StaleRow: {
            name: string;
            type: string;
        };
        Standing: {
            place: number | null;
            dropped: components["schemas"]["DroppedCandidate"] | null;
            score: number;
            needed: number | null;
            reasons: components["schemas"]["Reason"][];
            costs: components["schemas"]["Cost"][];
        };
        Stats: {
            entities: number;
            notes: number;
            messages: number;
            /** @description Corrected since, and kept as history */
            superseded: number;
            sessions: number;
            /** @description The embedding model */
            model: string | null;
            store: components["schemas"]["StoreCounts"];
        };
        /** @enum {string} */
        Status: "active" | "paused" | "completed" | "archived";
        StoreCounts: {
            observations: number;
            relations: number;
            /** @description `restore` can bring them back */
            forgotten: number;
            texts_with_a_vector: number;
            texts_waiting_for_one: number;
            /** @description Size of the whole store, including other owners' memories */
            bytes: number;
            schema: number;
        };
        StoreReport: {
            id: string;
            /** @enum {string} */
            kind: "file" | "server" | "memory";
            bytes: number;
            schema: number;
            read_only: boolean;
            leases: components["schemas"]["Lease"][];
            backups: components["schemas"]["BackupFile"][];
            has_replica: boolean;
            replica_problem: string | null;
            replica_lag_seconds: number | null;
            cache_problem: string | null;
            /** @description Totals of all owners */
            counts: components["schemas"]["Counts"];
            model: components["schemas"]["Model"] | null;
        };
        SupersedeByRequest: {
            /** @description The memory that replaces it */
            by?: number | null;
            /** @description Or the text of a new note that replaces it */
            text?: string | null;
            /** @description Retire near-copies of the old one, too; true if not given */
            copies?: boolean | null;
        };
        /**
         * @example {
         *       "text": "Ines drinks only rooibos since March"
         *     }
         */
        SupersedeRequest: {
            text: string;
            /** @description Such as preferences, work_career */
            category?: string | null;
            importance?: number | null;
            happened_at?: string | null;
            tags?: string[] | null;
            /** @description Names of entities that exist */
            about?: string[] | null;
            source?: string | null;
            expires_at?: string | null;
        };
        SupersedeResult: {
            /** @description The named memories first, then their near-copies */
            retired: components["schemas"]["RetiredMemory"][];
            /** @description Similar memories, which stay in force */
            similar: components["schemas"]["SimilarMemory"][];
            /** @description The memory that is now valid */
            id: number;
            model_note?: string;
            note?: string;
        };
        Timeline: {
            /** @description Periods with memories, in order */
            buckets: components["schemas"]["Bucket"][];
            /** @description Memories on all pages */
            total: number;
            /** @description Pass it to get the next page; absent at the end */
            cursor?: string;
            /** @description Omitted parts, and how to get them */
            note?: string;
        };
        TokenList: {
            tokens: components["schemas"]["NamedToken"][];
        };
        TopicRow: {
            name: string;
            /** @description How many observations it has */
            count: number;
            observations: string[];
        };
        Tuned: {
            version: number;
            profile: string;
            at: string;
            knobs: {
                [key: string]: number;
            };
            /** @enum {string} */
            why: "run" | "set" | "reset" | "rollback";
            report: {
                [key: string]: unknown;
            };
        };
        TuningAnalysis: {
            analysis: components["schemas"]["Analysis"];
            numbers: components["schemas"]["ProfileNumbers"];
            log: components["schemas"]["AnswerLogStatus"];
        };
        TuningChange: {
            profile: string;
            version: number;
            written: boolean;
            before: {
                [key: string]: number;
            };
            after: {
                [key: string]: number;
            };
            proposal: components["schemas"]["Proposal"] | null;
        };
        TuningHistory: {
            versions: components["schemas"]["Tuned"][];
            /** @description Pass it to get the next page; absent at the end */
            cursor?: string;
            /** @description Omitted parts, and how to get them */
            note?: string;
        };
        TuningState: {
            profiles: components["schemas"]["ProfileNumbers"][];
            log: components["schemas"]["AnswerLogStatus"];
        };
        UndoDreamRequest: {
            /** @description Undo the dreams after it, too; false if not given */
            later?: boolean | null;
        };
        UndoEntitySplitRequest: {
            undo: components["schemas"]["UndoRow"];
        };
        UndoRow: {
            original: number;
            parts: number[];
            observations: number[];
        };
        UndoSettlingRequest: {
            undo: components["schemas"]["SettleUndoRow"];
        };
        UndoneDecision: {
            key: string;
        };
        UndoneDreams: {
            undone: number[];
            changes: number;
            /** @description Memories that were changed since and stay as they are */
            left: number[];
        };
        UndoneSplit: {
            entity_name: string;
            restored: number;
        };
        /**
         * @example {
         *       "text": "Ines drinks oolong after dinner",
         *       "importance": 0.8
         *     }
         */
        UpdateRequest: {
            text?: string | null;
            importance?: number | null;
            category?: string | null;
            happened_at?: string | null;
            tags?: string[] | null;
            status?: string | null;
            pinned?: boolean | null;
            expires_at?: string | null;
        };
        Usage: {
            shown: number;
            opened: number;
            days: number;
            last_at: string | null;
        };
        ValueChange: {
            id: number;
            before: number;
            after: number;
        };
        Verdict: {
            questions: number;
            made: number;
            before: number;
            after: number;
            losses: components["schemas"]["LostHit"][];
            blame: components["schemas"]["Phase"] | null;
        };
        Verification: {
            /** @description The first problems */
            problems: components["schemas"]["Problem"][];
            total: number;
        };
        VerifyRequest: {
            /** @description Only check that all can be read and texts are intact; false if not given */
            quick?: boolean | null;
        };
        WholeMemory: {
            memory: components["schemas"]["Memory"];
            versions: components["schemas"]["MemoryVersion"][];
            events: components["schemas"]["HistoryEvent"][];
            supersedes: components["schemas"]["Memory"][];
            superseded_by: components["schemas"]["Memory"] | null;
            mentions: components["schemas"]["Memory"][];
            relations: components["schemas"]["Relation"][];
            drawn: components["schemas"]["Memory"][];
            neighbours: components["schemas"]["Memory"][];
            similar: components["schemas"]["SimilarMemory"][];
            conflicts: components["schemas"]["ConflictingMemory"][];
            links: components["schemas"]["MemoryLink"][];
            usage: components["schemas"]["Usage"];
            showings: components["schemas"]["Showing"][];
        };
        WhyNot: {
            query: string;
            profile: string;
            verdict: string;
            branches: components["schemas"]["Branch"][];
            standing: components["schemas"]["Standing"] | null;
            advice: string[];
            id: number;
        };
        WhyNotAnswer: {
            verdict: string;
            advice: string[];
            /** @description With `detail`: every search and every step */
            detail?: components["schemas"]["WhyNot"];
        };
        /**
         * @example {
         *       "query": "What tea does Ines drink?",
         *       "id": 1
         *     }
         */
        WhyNotRequest: {
            query: string;
            id?: number | null;
            /** @description Instead of an id: an entity's name */
            name?: string | null;
            limit?: number | null;
            /** @description recollect (default), limbic, mnemosyne, reverie or cognis; "recollect" if not given */
            profile?: string | null;
            kinds?: components["schemas"]["Kind"][] | null;
            tags?: string[] | null;
            as_of?: string | null;
            session?: string | null;
            /** @description false if not given */
            include_superseded?: boolean | null;
            /** @description Also return the result of every search and step; false if not given */
            detail?: boolean | null;
        };
    };
    responses: {
        /** @description The request cannot be read. */
        400: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The token is missing or wrong. */
        401: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The token does not allow it. */
        403: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Not found. */
        404: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description It contradicts what the store holds. */
        409: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Somebody changed it since; nothing was written. */
        412: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request is too large. */
        413: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The body is not JSON. */
        415: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The arguments are wrong; `errors` says where. */
        422: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The store cannot be used now; try again after `Retry-After` seconds. */
        503: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description It was given up; ask for less. */
        504: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: {
        /** @description Whose memory it is; the server's own, or the token's, if not given */
        owner: string;
        /** @description Of which agent; of none if not given */
        agent: string;
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    recall: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RecallRequest"];
            };
        };
        responses: {
            /** @description Recall */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecallPage"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    context: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ContextRequest"];
            };
        };
        responses: {
            /** @description Context */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ContextText"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    explain: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExplainRequest"];
            };
        };
        responses: {
            /** @description Explain a ranking */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExplainedPage"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    why_not: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WhyNotRequest"];
            };
        };
        responses: {
            /** @description Why not */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WhyNotAnswer"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    feedback: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FeedbackRequest"];
            };
        };
        responses: {
            /** @description Feedback */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Graded"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    list_memories: {
        parameters: {
            query?: {
                /** @description Notes if not given */
                kinds?: components["schemas"]["Kind"][];
                category?: string;
                /** @description Only what has all of these */
                tags?: string[];
                session?: string;
                /** @description false if not given */
                include_superseded?: boolean;
                limit?: number;
                cursor?: string;
                budget_tokens?: number;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List memories */
            200: {
                headers: {
                    /** @description The next page, with rel=next */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListedMemories"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    remember: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: {
                /** @description For 30 days, a request with the same key gets the first answer again and writes nothing */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RememberRequest"];
            };
        };
        responses: {
            /** @description It was known already */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NoteWritten"];
                };
            };
            /** @description Remember */
            201: {
                headers: {
                    /** @description Where it is */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NoteWritten"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    get_memory: {
        parameters: {
            query?: {
                /** @description How many of the last answers that showed it; 20 if not given */
                showings?: number;
                /** @description The memory as of this time */
                as_of?: string;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: {
                /** @description The ETag of an earlier answer; 304 if nothing has changed */
                "If-None-Match"?: string;
            };
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get a memory */
            200: {
                headers: {
                    /** @description Its version, for `If-Match` and `If-None-Match` */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WholeMemory"];
                };
            };
            /** @description Nothing has changed */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    forget: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: {
                /** @description The ETag of what you read; if it has changed since, 412 and nothing is written */
                "If-Match"?: string;
            };
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Forget */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Forgotten"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            412: components["responses"]["412"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    update: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: {
                /** @description The ETag of what you read; if it has changed since, 412 and nothing is written */
                "If-Match"?: string;
            };
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["UpdateRequest"];
            };
        };
        responses: {
            /** @description Update */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryId"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            412: components["responses"]["412"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    forget_many: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ForgetManyRequest"];
            };
        };
        responses: {
            /** @description Forget */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Forgotten"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    remember_many: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: {
                /** @description For 30 days, a request with the same key gets the first answer again and writes nothing */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RememberManyRequest"];
            };
        };
        responses: {
            /** @description Remember many */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RememberedBatch"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    supersede_by: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: {
                /** @description For 30 days, a request with the same key gets the first answer again and writes nothing */
                "Idempotency-Key"?: string;
                /** @description The ETag of what you read; if it has changed since, 412 and nothing is written */
                "If-Match"?: string;
            };
            path: {
                /** @description The memory that is no longer true */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SupersedeByRequest"];
            };
        };
        responses: {
            /** @description Supersede */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SupersedeResult"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            412: components["responses"]["412"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    history: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                budget_tokens?: number;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description History */
            200: {
                headers: {
                    /** @description The next page, with rel=next */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HistoryPage"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    browse: {
        parameters: {
            query?: {
                /** @description Default: every kind */
                kinds?: components["schemas"]["Kind"][];
                /** @description in_force: what searches find; all: also forgotten and superseded; "in_force" if not given */
                state?: "in_force" | "forgotten" | "superseded" | "expired" | "all";
                category?: string;
                /** @description Only what has all of these */
                tags?: string[];
                session?: string;
                /** @description Only texts that mention the entity with this id */
                entity?: number;
                /** @description active, paused, completed or archived */
                status?: string;
                pinned?: boolean;
                /** @description Only texts, names or observations that contain this, in any case */
                contains?: string;
                /** @description ISO 8601 */
                since?: string;
                until?: string;
                /** @description The time that since and until are compared with; "happened" if not given */
                time?: "happened" | "stored";
                /** @description newest, oldest: by time of storage; most_used, last_shown: only what was shown; "newest" if not given */
                order?: "newest" | "oldest" | "importance" | "most_used" | "last_shown";
                /** @description Rows on a page; 50 if not given */
                limit?: number;
                /** @description The `cursor` of the previous page */
                cursor?: string;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Browse */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BrowsePage"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    timeline: {
        parameters: {
            query?: {
                /** @description day, week (from Monday) or month; "day" if not given */
                unit?: "day" | "week" | "month";
                /** @description happened: when it was true; stored: when it was saved; "happened" if not given */
                time?: "happened" | "stored";
                /** @description ISO 8601 */
                since?: string;
                until?: string;
                /** @description Default: every kind */
                kinds?: components["schemas"]["Kind"][];
                /** @description "in_force" if not given */
                state?: "in_force" | "forgotten" | "superseded" | "expired" | "all";
                /** @description Rows on a page; 1000 if not given */
                limit?: number;
                /** @description The `cursor` of the previous page */
                cursor?: string;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Timeline */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Timeline"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    list_tags: {
        parameters: {
            query?: {
                /** @description Rows on a page; 100 if not given */
                limit?: number;
                /** @description The `cursor` of the previous page */
                cursor?: string;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List tags */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NamePage"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    list_categories: {
        parameters: {
            query?: {
                /** @description Rows on a page; 100 if not given */
                limit?: number;
                /** @description The `cursor` of the previous page */
                cursor?: string;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List categories */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NamePage"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    restore: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: {
                /** @description The ETag of what you read; if it has changed since, 412 and nothing is written */
                "If-Match"?: string;
            };
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RestoreRequest"];
            };
        };
        responses: {
            /** @description Restore */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryId"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            412: components["responses"]["412"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    supersede: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: {
                /** @description For 30 days, a request with the same key gets the first answer again and writes nothing */
                "Idempotency-Key"?: string;
                /** @description The ETag of what you read; if it has changed since, 412 and nothing is written */
                "If-Match"?: string;
            };
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SupersedeRequest"];
            };
        };
        responses: {
            /** @description It was known already */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NoteWritten"];
                };
            };
            /** @description Remember */
            201: {
                headers: {
                    /** @description Where it is */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NoteWritten"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            412: components["responses"]["412"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    session_messages: {
        parameters: {
            query?: {
                /** @description false if not given */
                newest_first?: boolean;
                /** @description Rows on a page; 100 if not given */
                limit?: number;
                /** @description The `cursor` of the previous page */
                cursor?: string;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path: {
                session: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Messages of a session */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MessagePage"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    add_messages: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: {
                /** @description For 30 days, a request with the same key gets the first answer again and writes nothing */
                "Idempotency-Key"?: string;
            };
            path: {
                session: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AddMessagesRequest"];
            };
        };
        responses: {
            /** @description Save messages */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedMessages"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    clear_session: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path: {
                session: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Clear a session */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClearedSession"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    list_sessions: {
        parameters: {
            query?: {
                /** @description Rows on a page; 50 if not given */
                limit?: number;
                /** @description The `cursor` of the previous page */
                cursor?: string;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List sessions */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionPage"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    add_reflection: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AddReflectionRequest"];
            };
        };
        responses: {
            /** @description It was known already */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Remembered"];
                };
            };
            /** @description Add a reflection */
            201: {
                headers: {
                    /** @description Where it is */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Remembered"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    search_reflections: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SearchReflectionsRequest"];
            };
        };
        responses: {
            /** @description Search reflections */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReflectionPage"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    search_nodes: {
        parameters: {
            query: {
                query: string;
                limit?: number;
                cursor?: string;
                budget_tokens?: number;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Search nodes */
            200: {
                headers: {
                    /** @description The next page, with rel=next */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GraphPage"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    create_entities: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: {
                /** @description For 30 days, a request with the same key gets the first answer again and writes nothing */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateEntitiesRequest"];
            };
        };
        responses: {
            /** @description Create entities */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedEntities"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    search_semantic: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SearchSemanticRequest"];
            };
        };
        responses: {
            /** @description Search by meaning */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SemanticPage"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    list_entities: {
        parameters: {
            query?: {
                type?: string;
                /** @description Only names that contain this, in any case */
                contains?: string;
                /** @description "name" if not given */
                order?: "name" | "newest" | "most_mentioned";
                /** @description Rows on a page; 100 if not given */
                limit?: number;
                /** @description The `cursor` of the previous page */
                cursor?: string;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List entities */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntityPage"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    open_nodes: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OpenNodesRequest"];
            };
        };
        responses: {
            /** @description Open nodes */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GraphPage"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    delete_entities: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeleteEntitiesRequest"];
            };
        };
        responses: {
            /** @description Delete entities */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    open_entity: {
        parameters: {
            query?: {
                kinds?: string[];
                /** @description false if not given */
                include_superseded?: boolean;
                limit?: number;
                cursor?: string;
                budget_tokens?: number;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: {
                /** @description The ETag of an earlier answer; 304 if nothing has changed */
                "If-None-Match"?: string;
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Open nodes */
            200: {
                headers: {
                    /** @description Its version, for `If-Match` and `If-None-Match` */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GraphPage"];
                };
            };
            /** @description Nothing has changed */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    delete_entity: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: {
                /** @description The ETag of what you read; if it has changed since, 412 and nothing is written */
                "If-Match"?: string;
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Delete entities */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            412: components["responses"]["412"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    set_status: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: {
                /** @description The ETag of what you read; if it has changed since, 412 and nothing is written */
                "If-Match"?: string;
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetStatusRequest"];
            };
        };
        responses: {
            /** @description Set a status */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            412: components["responses"]["412"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    neighbours: {
        parameters: {
            query?: {
                /** @description 1 if not given */
                depth?: number;
                /** @description ISO 8601; a day: its end */
                as_of?: string;
                limit?: number;
                cursor?: string;
                budget_tokens?: number;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Neighbours */
            200: {
                headers: {
                    /** @description The next page, with rel=next */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NeighbourPage"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    add_observations: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: {
                /** @description For 30 days, a request with the same key gets the first answer again and writes nothing */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AddObservationsRequest"];
            };
        };
        responses: {
            /** @description Add observations */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AddedObservations"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    delete_observations: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeleteObservationsRequest"];
            };
        };
        responses: {
            /** @description Delete observations */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    create_relations: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: {
                /** @description For 30 days, a request with the same key gets the first answer again and writes nothing */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateRelationsRequest"];
            };
        };
        responses: {
            /** @description Create relations */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedRelations"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    end_relation: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EndRelationRequest"];
            };
        };
        responses: {
            /** @description End a relation */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    delete_relations: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeleteRelationsRequest"];
            };
        };
        responses: {
            /** @description Delete relations */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    read_graph: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                budget_tokens?: number;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Read the graph */
            200: {
                headers: {
                    /** @description The next page, with rel=next */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GraphPage"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    find_paths: {
        parameters: {
            query: {
                from: string;
                to: string;
                /** @description Longest path, in relations; 4 if not given */
                depth?: number;
                limit?: number;
                cursor?: string;
                budget_tokens?: number;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Find paths */
            200: {
                headers: {
                    /** @description The next page, with rel=next */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PathPage"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    list_dreams: {
        parameters: {
            query?: {
                /** @description Rows on a page; 20 if not given */
                limit?: number;
                /** @description The `cursor` of the previous page */
                cursor?: string;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List dreams */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DreamPage"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    dream: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DreamRequest"];
            };
        };
        responses: {
            /** @description Dream */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DreamDone"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    preview_dream: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["PreviewDreamRequest"];
            };
        };
        responses: {
            /** @description Preview a dream */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DreamPreview"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    undo_dream: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path: {
                /** @description The dream's number */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["UndoDreamRequest"];
            };
        };
        responses: {
            /** @description Undo a dream */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UndoneDreams"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    get_dream: {
        parameters: {
            query?: {
                /** @description Only changes of this sort, such as strength or merged */
                what?: string;
                /** @description Rows on a page; 100 if not given */
                limit?: number;
                /** @description The `cursor` of the previous page */
                cursor?: string;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get a dream */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DreamDetail"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    to_settle: {
        parameters: {
            query?: {
                /** @description List the dismissed items instead; false if not given */
                dismissed?: boolean;
                /** @description Days without use; 90 if not given */
                stale_days?: number;
                /** @description Rows on a page; 50 if not given */
                limit?: number;
                /** @description The `cursor` of the previous page */
                cursor?: string;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path: {
                kind: "contradiction" | "similar_notes" | "similar_observations" | "split" | "stale";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List review items */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReviewPage"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    settle: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SettleRequest"];
            };
        };
        responses: {
            /** @description Settle */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Settled"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    undo_settling: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UndoSettlingRequest"];
            };
        };
        responses: {
            /** @description Undo a decision */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UndoneDecision"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    list_answers: {
        parameters: {
            query?: {
                profile?: string;
                /** @description true: only those with feedback; false: only those without */
                judged?: boolean;
                /** @description Only those with feedback on this memory */
                memory?: number;
                /** @description Only questions that contain this */
                contains?: string;
                /** @description Rows on a page; 50 if not given */
                limit?: number;
                /** @description The `cursor` of the previous page */
                cursor?: string;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List answers */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnswerPage"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    get_answer: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get an answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnswerDetail"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    replay_answer: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Replay an answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnswerDetail"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    empty_log: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["EmptyLogRequest"];
            };
        };
        responses: {
            /** @description Empty the log */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LogEmptied"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    self_test: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SelfTestRequest"];
            };
        };
        responses: {
            /** @description Self-test */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SelfTest"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    confidence_curve: {
        parameters: {
            query?: {
                /** @description Questions to ask at most; 100 if not given */
                sample?: number;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Confidence curve */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConfidenceCurve"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    tuning_state: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Tuning state */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TuningState"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    analyze_tuning: {
        parameters: {
            query?: {
                /** @description The default if not given */
                profile?: string;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Analyze tuning */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TuningAnalysis"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    tuning_history: {
        parameters: {
            query?: {
                profile?: string;
                /** @description Rows on a page; 50 if not given */
                limit?: number;
                /** @description The `cursor` of the previous page */
                cursor?: string;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Tuning history */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TuningHistory"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    run_tuning: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RunTuningRequest"];
            };
        };
        responses: {
            /** @description Run tuning */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TuningChange"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    set_numbers: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetNumbersRequest"];
            };
        };
        responses: {
            /** @description Set numbers */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TuningChange"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    reset_numbers: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ResetNumbersRequest"];
            };
        };
        responses: {
            /** @description Reset numbers */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TuningChange"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    rollback_tuning: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RollbackTuningRequest"];
            };
        };
        responses: {
            /** @description Roll tuning back */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TuningChange"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    stats: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Statistics */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Stats"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    consolidation_report: {
        parameters: {
            query?: {
                /** @description Days without use; 90 if not given */
                stale_days?: number;
                limit?: number;
                cursor?: string;
                budget_tokens?: number;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Consolidation report */
            200: {
                headers: {
                    /** @description The next page, with rel=next */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReportPage"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    find_duplicate_observations: {
        parameters: {
            query?: {
                /** @description Only this entity; all if not given */
                entity_name?: string;
                /** @description Similarity from 0 to 1; 0.85 if not given */
                threshold?: number;
                limit?: number;
                cursor?: string;
                budget_tokens?: number;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Find duplicate observations */
            200: {
                headers: {
                    /** @description The next page, with rel=next */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DuplicatePage"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    find_split_candidates: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                budget_tokens?: number;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Find split candidates */
            200: {
                headers: {
                    /** @description The next page, with rel=next */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SplitCandidates"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    analyze_entity_split: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                budget_tokens?: number;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path: {
                /** @description The entity's exact name */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Analyze a split */
            200: {
                headers: {
                    /** @description The next page, with rel=next */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnalyzedSplit"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    execute_entity_split: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: {
                /** @description The ETag of what you read; if it has changed since, 412 and nothing is written */
                "If-Match"?: string;
            };
            path: {
                /** @description The entity's exact name */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExecuteEntitySplitRequest"];
            };
        };
        responses: {
            /** @description Execute a split */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutedSplit"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            412: components["responses"]["412"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    propose_entity_split: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                budget_tokens?: number;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path: {
                /** @description The entity's exact name */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Propose a split */
            200: {
                headers: {
                    /** @description The next page, with rel=next */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProposedSplit"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    undo_entity_split: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UndoEntitySplitRequest"];
            };
        };
        responses: {
            /** @description Undo a split */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UndoneSplit"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    doctor: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Doctor */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    store_state: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description State of the store */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoreReport"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    verify: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["VerifyRequest"];
            };
        };
        responses: {
            /** @description Verify */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Verification"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    backup: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["BackupRequest"];
            };
        };
        responses: {
            /** @description Back up */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BackupFile"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    reindex: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ReindexRequest"];
            };
        };
        responses: {
            /** @description Reindex */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReindexResult"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    purge: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PurgeRequest"];
            };
        };
        responses: {
            /** @description Purge */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Purged"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    purge_forgotten: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PurgeForgottenRequest"];
            };
        };
        responses: {
            /** @description Purge all that was forgotten */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Purged"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    import_text: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ImportTextRequest"];
            };
        };
        responses: {
            /** @description Import */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportedText"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    export: {
        parameters: {
            query?: {
                /** @description "full" if not given */
                format?: "official" | "full";
                /** @description Rows on a page; 500 if not given */
                limit?: number;
                /** @description The `cursor` of the previous page */
                cursor?: string;
                /** @description With `full`: include questions and what was learnt from them; true if not given */
                learning?: boolean;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Export */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExportPage"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    migrate: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MigrateRequest"];
            };
        };
        responses: {
            /** @description Migrate */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Migrated"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    latencies: {
        parameters: {
            query?: {
                /** @description Only this operation, such as recall */
                operation?: string;
                /** @description Only from this minute on */
                since?: string;
                /** @description Rows on a page; 500 if not given */
                limit?: number;
                /** @description The `cursor` of the previous page */
                cursor?: string;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Latencies */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Latencies"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    list_tokens: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List tokens */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenList"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    create_token: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateTokenRequest"];
            };
        };
        responses: {
            /** @description Create a token */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedToken"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    revoke_token: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Revoke a token */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevokedToken"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    live: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Whether the process lives */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        status: string;
                        reason?: string;
                    };
                };
            };
        };
    };
    ready: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Whether the store opens and answers */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        status: string;
                        reason?: string;
                    };
                };
            };
            /** @description It does not; `reason` says why */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        status: string;
                        reason?: string;
                    };
                };
            };
        };
    };
    metrics: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Counts and latencies for Prometheus */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain; version=0.0.4; charset=utf-8": string;
                };
            };
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
}
