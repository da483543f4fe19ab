"""Our recorder and factory pass the test cases of the library that they extend."""

import contextlib
import io
import tempfile
import threading
from pathlib import Path
from uuid import uuid4

from eventsourcing.persistence import InfrastructureFactory
from eventsourcing.sqlite import (
    SQLiteAggregateRecorder,
    SQLiteProcessRecorder,
    SQLiteTrackingRecorder,
)
from eventsourcing.tests import persistence as cases
from eventsourcing.utils import Environment

from croupier.services.store.sqlite import Datastore, Factory, Recorder


def join_others(known):
    for thread in set(threading.enumerate()) - known:
        thread.join()


class OnOurDatastore:
    """Recorders of our factory, on a file of the test's own."""

    originator_id_type = "uuid"

    def setUp(self):
        # The cases print what they measure.
        self.enterContext(contextlib.redirect_stdout(io.StringIO()))
        folder = self.enterContext(tempfile.TemporaryDirectory())
        env = Environment("Cases")
        env[InfrastructureFactory.PERSISTENCE_MODULE] = Factory.__module__
        env[Factory.SQLITE_DBNAME] = str(Path(folder) / "cases.db")
        env[Factory.ORIGINATOR_ID_TYPE] = self.originator_id_type
        self.env = env
        super().setUp()

    def create_factory(self):
        factory = InfrastructureFactory.construct(self.env)
        self.addCleanup(factory.close)
        # Some cases leave readers behind, and SQLite does not bear a close in the middle of a read.
        self.addCleanup(join_others, set(threading.enumerate()))
        return factory


class ByText:
    originator_id_type = "text"

    def new_originator_id(self):
        return f"tables/{uuid4()}"


class TestAggregateRecorder(OnOurDatastore, cases.AggregateRecorderTestCase):
    def create_recorder(self):
        return self.create_factory().aggregate_recorder()


class TestAggregateRecorderByText(ByText, TestAggregateRecorder):
    pass


class TestApplicationRecorder(OnOurDatastore, cases.ApplicationRecorderTestCase):
    def create_recorder(self):
        return self.create_factory().application_recorder()


class TestApplicationRecorderByText(ByText, TestApplicationRecorder):
    pass


class TestEventsOfOneInsertStayTogether(
    OnOurDatastore, cases.NonInterleavingNotificationIDsBaseCase
):
    def create_recorder(self):
        return self.create_factory().application_recorder()


class TestEventsOfOneInsertStayTogetherByText(ByText, TestEventsOfOneInsertStayTogether):
    pass


class TrackingSubclass(SQLiteTrackingRecorder):
    pass


class TestFactory(OnOurDatastore, cases.InfrastructureFactoryTestCase):
    def expected_factory_class(self):
        return Factory

    def expected_aggregate_recorder_class(self):
        return SQLiteAggregateRecorder

    def expected_application_recorder_class(self):
        return Recorder

    def expected_tracking_recorder_class(self):
        return SQLiteTrackingRecorder

    def tracking_recorder_subclass(self):
        return TrackingSubclass

    def expected_process_recorder_class(self):
        return SQLiteProcessRecorder

    def test_the_datastore_is_ours_with_the_options_of_the_environment(self):
        self.env[Factory.SQLITE_LOCK_TIMEOUT] = "7"
        self.env[Factory.SQLITE_SINGLE_ROW_TRACKING] = "f"
        self.env[Factory.ORIGINATOR_ID_TYPE] = "text"
        datastore = self.create_factory().datastore
        assert isinstance(datastore, Datastore)
        assert datastore.pool.lock_timeout == 7
        assert not datastore.single_row_tracking
        assert datastore.originator_id_type == "text"
