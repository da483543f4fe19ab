"""The recorders and the factory on Redis pass the test cases of the library that they extend."""

import contextlib
import io
from uuid import uuid4

import pytest
from eventsourcing.persistence import InfrastructureFactory
from eventsourcing.tests import persistence as cases
from eventsourcing.utils import Environment

from croupier.services.store import redis as module
from croupier.services.store.redis.factory import Factory, FollowingRecorder
from croupier.services.store.redis.library import FollowerRecorder, StreamRecorder
from croupier.services.store.redis.recorder import Recorder


@pytest.fixture(autouse=True)
def _server(request, redis):
    request.instance.url = redis.url


class OnOurServer:
    """Recorders of our factory, on an empty server."""

    originator_id_type = "uuid"

    def setUp(self):
        # The cases print what they measure.
        self.enterContext(contextlib.redirect_stdout(io.StringIO()))
        env = Environment("Cases")
        env[InfrastructureFactory.PERSISTENCE_MODULE] = module.__name__
        env[Factory.REDIS_URL] = self.url
        env[Factory.ORIGINATOR_ID_TYPE] = self.originator_id_type
        self.env = env
        super().setUp()

    def create_factory(self):
        factory = InfrastructureFactory.construct(self.env)
        self.addCleanup(factory.close)
        return factory


class ByText:
    originator_id_type = "text"

    def new_originator_id(self):
        return f"tables/{uuid4()}"


class TestAggregateRecorder(OnOurServer, cases.AggregateRecorderTestCase):
    def create_recorder(self):
        return self.create_factory().aggregate_recorder()


class TestAggregateRecorderByText(ByText, TestAggregateRecorder):
    pass


class TestApplicationRecorder(OnOurServer, cases.ApplicationRecorderTestCase):
    def create_recorder(self):
        return self.create_factory().application_recorder()


class TestApplicationRecorderByText(ByText, TestApplicationRecorder):
    pass


class TestEventsOfOneInsertStayTogether(OnOurServer, cases.NonInterleavingNotificationIDsBaseCase):
    def create_recorder(self):
        return self.create_factory().application_recorder()


class TestEventsOfOneInsertStayTogetherByText(ByText, TestEventsOfOneInsertStayTogether):
    pass


class TestFollower(OnOurServer, cases.TrackingRecorderTestCase):
    def create_recorder(self):
        return self.create_factory().tracking_recorder()


class TestProcessRecorder(OnOurServer, cases.ProcessRecorderTestCase):
    def create_recorder(self):
        return self.create_factory().process_recorder()


class TrackingSubclass(FollowerRecorder):
    pass


class TestFactory(OnOurServer, cases.InfrastructureFactoryTestCase):
    def expected_factory_class(self):
        return Factory

    def expected_aggregate_recorder_class(self):
        return StreamRecorder

    def expected_application_recorder_class(self):
        return Recorder

    def expected_tracking_recorder_class(self):
        return FollowerRecorder

    def tracking_recorder_subclass(self):
        return TrackingSubclass

    def expected_process_recorder_class(self):
        return FollowingRecorder

    def test_an_environment_that_names_no_server_is_refused(self):
        for name, value in ((Factory.REDIS_URL, "http://h"), (Factory.ORIGINATOR_ID_TYPE, "int")):
            before = self.env[name]
            self.env[name] = value
            with pytest.raises(OSError, match=name):
                InfrastructureFactory.construct(self.env)
            self.env[name] = before
